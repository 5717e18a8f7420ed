import { type FactorName, weighted } from '../../packages/node/src/shops/matrix/score/method.ts'
import type { ScoringRules } from '../../packages/node/src/shops/matrix/score/score-universe.ts'

const equal = (points: ScoringRules['points'], ...names: FactorName[]): ScoringRules => ({
  points,
  unknown: 'reweighted',
  catalystsCount: false,
  factors: weighted(Object.fromEntries(names.map((name) => [name, 1]))),
})

const [si, fails, last, price, rise] = [
  'short_interest_to_shares',
  'fails_mean_to_shares',
  'fails_to_shares',
  'price_vs_vwap',
  'return_5d',
] as const

/** What version 2 of the score was chosen from: equal weights, two scales, at most four factors. */
export const candidates: Record<string, ScoringRules> = Object.fromEntries(
  (
    [
      ['SI + fails', si, fails],
      ['SI + price', si, price],
      ['fails + price', fails, price],
      ['SI + fails + price', si, fails, price],
      ['SI + fails of the last day + price', si, last, price],
      ['SI + fails + 5-day return', si, fails, rise],
      ['SI + fails + volatility', si, fails, 'volatility'],
      ['SI + fails + price + volatility', si, fails, price, 'volatility'],
      ['SI + fails + price + days to cover', si, fails, price, 'days_to_cover'],
      ['SI + fails + price + change of SI', si, fails, price, 'short_interest_change'],
      ['SI + fails + price + short volume', si, fails, price, 'short_volume_z'],
    ] as [string, ...FactorName[]][]
  ).flatMap(([name, ...factors]) => [
    [`${name}, percentiles`, equal('percentile', ...factors)],
    [`${name}, halvings`, equal('halvings', ...factors)],
  ]),
)
