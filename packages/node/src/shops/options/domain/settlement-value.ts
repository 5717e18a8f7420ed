import type { IndexE4 } from './contract-terms.ts'

export type ValuedTick = { atMs: number; valueE4: IndexE4; agents: number | null }

export type SettlementRules = {
  /** The median is taken over this much time before the expiry. */
  windowMs: number
  tickMs: number
  /** A tick counts only with this many agents behind it. */
  agentsMin: number
  /** How often the window moves on by its own length before the series is void. */
  extensionsMax: number
}

export type SettlementValue =
  | { status: 'fixed'; valueE4: IndexE4; fromMs: number; toMs: number; extensions: number; ticks: number }
  /** The window that would decide has not been published to its end. */
  | { status: 'wait'; untilMs: number; extensions: number }
  | { status: 'void'; reason: string; extensions: number }

/**
 * The settlement value of a series: the median of the index over the window before the expiry, each tick weighted by the
 * time it covers. A short push moves a median only if it lasts for half of the window. If fewer than half of the window's
 * ticks had enough agents, the window moves on, and in the end the series is void.
 */
export function settlementValue(
  rules: SettlementRules,
  ticks: readonly ValuedTick[],
  expiresAtMs: number,
  publishedUpToMs: number,
): SettlementValue {
  const wanted = Math.ceil(rules.windowMs / rules.tickMs / 2)
  for (let extensions = 0; extensions <= rules.extensionsMax; extensions += 1) {
    const toMs = expiresAtMs + extensions * rules.windowMs
    const fromMs = toMs - rules.windowMs
    if (publishedUpToMs < toMs) return { status: 'wait', untilMs: toMs, extensions }
    const counted = ticks.filter(
      ({ atMs, agents }) => atMs > fromMs && atMs <= toMs && agents !== null && agents >= rules.agentsMin,
    )
    if (counted.length >= wanted)
      return {
        status: 'fixed',
        valueE4: lowerMedian(counted.map(({ valueE4 }) => valueE4)),
        fromMs,
        toMs,
        extensions,
        ticks: counted.length,
      }
  }
  return {
    status: 'void',
    reason: `fewer than ${wanted} ticks with ${rules.agentsMin} agents in each of ${rules.extensionsMax + 1} windows`,
    extensions: rules.extensionsMax,
  }
}

/** Ticks are at equal distances, so the time-weighted median is the median; of two in the middle the lower one. */
export function lowerMedian(values: readonly IndexE4[]): IndexE4 {
  const sorted = [...values].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  const middle = sorted[Math.floor((sorted.length - 1) / 2)]
  if (middle === undefined) throw new RangeError('no values')
  return middle
}
