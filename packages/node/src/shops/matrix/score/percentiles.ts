/** Where each value is among those that take part and have one. Ties share both bounds; -1 for the rest. */
export type Places = {
  count: number
  /** How many are below. */
  below: Int32Array
  /** How many are not above. */
  upTo: Int32Array
}

export function placesOf(values: Float64Array, included: Uint8Array): Places {
  const size = values.length
  const known = new Float64Array(size)
  let count = 0
  for (let i = 0; i < size; i += 1) {
    const value = values[i] as number
    if (included[i] !== 1 || Number.isNaN(value)) continue
    known[count] = value
    count += 1
  }
  const sorted = known.subarray(0, count).sort()
  const below = new Int32Array(size).fill(-1)
  const upTo = new Int32Array(size).fill(-1)
  for (let i = 0; i < size; i += 1) {
    const value = values[i] as number
    if (included[i] !== 1 || Number.isNaN(value)) continue
    const first = bound(sorted, value, 0, false)
    below[i] = first
    // Most values are their own.
    upTo[i] = sorted[first + 1] === value ? bound(sorted, value, first, true) : first + 1
  }
  return { count, below, upTo }
}

/**
 * Percentile ranks 0..100 among those that take part and have a value; ties share their average rank. NaN for the rest.
 */
export function percentiles(values: Float64Array, included: Uint8Array): Float64Array {
  return percentilesOf(placesOf(values, included))
}

export function percentilesOf({ count, below, upTo }: Places): Float64Array {
  const ranks = new Float64Array(below.length).fill(Number.NaN)
  for (let i = 0; i < ranks.length; i += 1)
    if ((below[i] as number) >= 0)
      ranks[i] = count === 1 ? 50 : (((below[i] as number) + (upTo[i] as number) - 1) / 2 / (count - 1)) * 100
  return ranks
}

/** Largest first, ties in the order given. */
export function rankingOf({ count, upTo }: Places): Int32Array {
  const ranking = new Int32Array(count)
  const taken = new Int32Array(count + 1)
  for (let i = 0; i < upTo.length; i += 1) {
    const place = upTo[i] as number
    if (place < 0) continue
    ranking[count - place + (taken[place] as number)] = i
    taken[place] = (taken[place] as number) + 1
  }
  return ranking
}

/** `log2(n / place)` from percentiles of n symbols: how often their number is halved until only this place is left. */
export function halvings(ranks: Float64Array): Float64Array {
  let count = 0
  for (let i = 0; i < ranks.length; i += 1) if (!Number.isNaN(ranks[i] as number)) count += 1
  const made = new Float64Array(ranks.length)
  for (let i = 0; i < ranks.length; i += 1)
    made[i] = Math.log2(count / (count - ((count - 1) * (ranks[i] as number)) / 100))
  return made
}

/** How many of the sorted values are below `value`, or not above it, looking from a place that is not beyond it. */
function bound(sorted: Float64Array, value: number, from: number, inclusive: boolean): number {
  let low = from
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const at = sorted[middle] as number
    if (at < value || (inclusive && at === value)) low = middle + 1
    else high = middle
  }
  return low
}
