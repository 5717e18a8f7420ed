/**
 * Percentile ranks 0..100 among those that take part and have a value; ties share their average rank. NaN for the rest.
 */
export function percentiles(values: Float64Array, takesPart: Uint8Array): Float64Array {
  const ranks = new Float64Array(values.length).fill(Number.NaN)
  const sorted = Float64Array.from(
    values.filter((value, index) => takesPart[index] === 1 && !Number.isNaN(value)),
  ).sort()
  const count = sorted.length
  if (count === 0) return ranks
  for (let i = 0; i < values.length; i += 1) {
    const value = values[i] as number
    if (takesPart[i] !== 1 || Number.isNaN(value)) continue
    const below = bound(sorted, value, false)
    const upTo = bound(sorted, value, true)
    ranks[i] = count === 1 ? 50 : ((below + upTo - 1) / 2 / (count - 1)) * 100
  }
  return ranks
}

/** `log2(n / place)` from percentiles of n symbols: how often their number is halved until only this place is left. */
export function halvings(ranks: Float64Array): Float64Array {
  let count = 0
  for (const rank of ranks) if (!Number.isNaN(rank)) count += 1
  return ranks.map((rank) => Math.log2(count / (count - ((count - 1) * rank) / 100)))
}

/** How many of the sorted values are below `value`, or not above it. */
function bound(sorted: Float64Array, value: number, inclusive: boolean): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const at = sorted[middle] as number
    if (at < value || (inclusive && at === value)) low = middle + 1
    else high = middle
  }
  return low
}
