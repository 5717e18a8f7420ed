/** Ranks with ties at their mean, 1-based. */
export function ranksOf(values: readonly number[]): number[] {
  const order = values.map((value, index) => ({ value, index })).sort((one, other) => one.value - other.value)
  const ranks = new Array<number>(values.length).fill(0)
  for (let start = 0; start < order.length; ) {
    let end = start
    while (end + 1 < order.length && order[end + 1]?.value === order[start]?.value) end += 1
    for (let at = start; at <= end; at += 1) ranks[order[at]?.index ?? 0] = (start + end) / 2 + 1
    start = end + 1
  }
  return ranks
}

/** Spearman's rho; null where one side does not vary. */
export function spearman(one: readonly number[], other: readonly number[]): number | null {
  if (one.length !== other.length || one.length < 2) return null
  const [a, b] = [ranksOf(one), ranksOf(other)]
  const mean = (one.length + 1) / 2
  let covariance = 0
  let varianceA = 0
  let varianceB = 0
  for (let index = 0; index < a.length; index += 1) {
    const [x, y] = [(a[index] ?? 0) - mean, (b[index] ?? 0) - mean]
    covariance += x * y
    varianceA += x * x
    varianceB += y * y
  }
  return varianceA === 0 || varianceB === 0 ? null : covariance / Math.sqrt(varianceA * varianceB)
}

/** Chance that a good one scores above a bad one, ties counted half; null where one kind is missing. */
export function areaUnderCurve(scores: readonly number[], good: readonly boolean[]): number | null {
  const ranks = ranksOf(scores)
  const positives = good.filter(Boolean).length
  const negatives = good.length - positives
  if (positives === 0 || negatives === 0) return null
  const sum = ranks.reduce((total, rank, index) => (good[index] ? total + rank : total), 0)
  return (sum - (positives * (positives + 1)) / 2) / (positives * negatives)
}
