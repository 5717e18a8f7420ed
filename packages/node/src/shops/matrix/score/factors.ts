import type { AsOfView, Column, ColumnName } from '../as-of/as-of-view.ts'
import type { FactorName, FactorRule } from './method.ts'
import type { Factor } from './score-universe.ts'

/** Which columns a factor is made of: its provenance, and what the licence policy is asked about. */
export const factorColumns: Record<FactorName, readonly ColumnName[]> = {
  short_interest_to_shares: ['short_interest', 'shares_outstanding'],
  borrow_fee: ['borrow_fee_pct'],
  borrow_supply: ['borrow_available', 'short_interest'],
  days_to_cover: ['days_to_cover'],
  short_interest_change: ['short_interest_change_pct'],
  fails_to_shares: ['fails', 'shares_outstanding'],
  fails_mean_to_shares: ['fails_mean', 'shares_outstanding'],
  price_vs_vwap: ['price_vs_vwap_pct'],
  short_volume_z: ['short_ratio_z'],
  return_5d: ['return_5d_pct'],
  volatility: ['volatility_pct'],
}

/** Values of the factors whose columns are there; the others are simply missing. */
export function computeFactors(columns: AsOfView['columns'], rules: readonly FactorRule[]): Factor[] {
  const get = (name: ColumnName) => (columns[name] as Column).values
  const values: Record<FactorName, () => Float64Array> = {
    short_interest_to_shares: () => ratio(get('short_interest'), get('shares_outstanding'), 100),
    borrow_fee: () => get('borrow_fee_pct'),
    borrow_supply: () => ratio(get('borrow_available'), get('short_interest'), 1),
    days_to_cover: () => get('days_to_cover'),
    short_interest_change: () => get('short_interest_change_pct'),
    fails_to_shares: () => ratio(get('fails'), get('shares_outstanding'), 100),
    fails_mean_to_shares: () => ratio(get('fails_mean'), get('shares_outstanding'), 100),
    price_vs_vwap: () => get('price_vs_vwap_pct'),
    short_volume_z: () => get('short_ratio_z'),
    return_5d: () => get('return_5d_pct'),
    volatility: () => get('volatility_pct'),
  }
  return rules
    .filter((rule) => factorColumns[rule.name].every((name) => columns[name] !== undefined))
    .map((rule) => ({ rule, values: values[rule.name]() }))
}

export function ratio(above: Float64Array, below: Float64Array, scale: number): Float64Array {
  const result = new Float64Array(above.length)
  for (let i = 0; i < result.length; i += 1) {
    const divisor = below[i] as number
    result[i] = divisor > 0 ? ((above[i] as number) / divisor) * scale : Number.NaN
  }
  return result
}
