export type VolatilityRules = {
  /** Weight of the past in each step. */
  lambda: number
  floor: number
  highest: number
  /** What writers are paid for the estimate being only one. */
  markup: number
}

export const defaultVolatility: VolatilityRules = { lambda: 0.97, floor: 0.3, highest: 3, markup: 1.1 }

/**
 * Yearly volatility from index values at equal distances, oldest first: an exponentially weighted mean of squared log
 * changes, marked up, within floor and ceiling. Four decimals are published, and only those are used.
 */
export function estimateVolatility(
  values: readonly number[],
  stepsPerYear: number,
  rules: VolatilityRules = defaultVolatility,
): number {
  let variance: number | undefined
  for (let at = 1; at < values.length; at += 1) {
    const [before = 0, now = 0] = [values[at - 1], values[at]]
    if (before <= 0 || now <= 0) continue
    const change = Math.log(now / before)
    variance = variance === undefined ? change * change : rules.lambda * variance + (1 - rules.lambda) * change * change
  }
  const yearly = Math.sqrt((variance ?? 0) * stepsPerYear) * rules.markup
  const bounded = Math.min(Math.max(yearly, rules.floor), rules.highest)
  return Math.round(bounded * 10_000) / 10_000
}
