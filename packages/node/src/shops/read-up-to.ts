/** What was taken in so recently may become visible after what came later. */
const settlingMs = 10_000

/** From where a reader goes on: after the last that it was given, or, with nothing left, from shortly before now. */
export function readUpTo(
  sinceMs: number,
  { lastMs, more, nowMs }: { lastMs: number | undefined; more: boolean; nowMs: number },
): number {
  return Math.max(sinceMs, more && lastMs !== undefined ? lastMs : nowMs - settlingMs)
}
