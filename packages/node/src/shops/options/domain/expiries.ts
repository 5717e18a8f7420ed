const dayMs = 86_400_000
const weekMs = 7 * dayMs
/** 1970-01-02 was a Friday. */
const firstFriday0800 = dayMs + 8 * 3_600_000

export type ExpiryRule =
  | { kind: 'fridays'; count: number }
  /** Every `everyMs`, on the clock: for a demonstration that lasts minutes. */
  | { kind: 'every'; everyMs: number; count: number }

/** The next expiries after `nowMs`, nearest first. */
export function nextExpiries(rule: ExpiryRule, nowMs: number): number[] {
  const [origin, step] = rule.kind === 'fridays' ? [firstFriday0800, weekMs] : [0, rule.everyMs]
  const first = origin + (Math.floor((nowMs - origin) / step) + 1) * step
  return Array.from({ length: rule.count }, (_, index) => first + index * step)
}
