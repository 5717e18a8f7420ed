/**
 * How work grows with its input, as a ratio: the time for one input of `factor` times the size, divided by the time for
 * `factor` inputs of the small size. Linear work gives about 1, quadratic work about `factor`. How fast the machine is,
 * and what else it does, cancels out: both sides are measured in turn, and the best round of each counts.
 */
export type GrowthOptions = {
  factor?: number
  /** Measured at least so often before a ratio below `limit` is believed. */
  roundsMin?: number
  /** Measured at most so often, and not for longer than a second, before a ratio above `limit` is believed. */
  roundsMax?: number
  limit?: number
}

/**
 * A ratio between these two is measured at least this long before it is believed: the compiler comes to what runs long
 * before it comes to what runs often, and until then quadratic work looks better than it is.
 */
const plainlyLinear = 2
const shortMs = 100

/** Rounds that take this long are too long for a stall of the machine to decide them; the least number is enough. */
const longMs = 1_000

/** Far above what caches and garbage collection add to linear work, far below quadratic work at the usual factor. */
export const linearAtMost = 5

export function growthOf(work: (size: number) => () => unknown, size: number, options: GrowthOptions = {}): number {
  const { factor = 16, roundsMin = 3, roundsMax = 15, limit = linearAtMost } = options
  const [once, large] = [work(size), work(size * factor)]
  const small = () => {
    for (let times = 0; times < factor; times += 1) once()
  }
  const best = { small: Number.POSITIVE_INFINITY, large: Number.POSITIVE_INFINITY }
  const ratio = () => best.large / best.small
  let spentMs = 0
  const goesOn = (round: number) =>
    round < roundsMin ||
    (spentMs < shortMs && ratio() >= plainlyLinear) ||
    (round < roundsMax && spentMs < longMs && ratio() >= limit)
  for (let round = 0; goesOn(round); round += 1) {
    const [smallMs, largeMs] = [millisecondsOf(small), millisecondsOf(large)]
    best.small = Math.min(best.small, smallMs)
    best.large = Math.min(best.large, largeMs)
    spentMs += smallMs + largeMs
  }
  return ratio()
}

function millisecondsOf(work: () => unknown): number {
  const startedMs = performance.now()
  work()
  return performance.now() - startedMs
}
