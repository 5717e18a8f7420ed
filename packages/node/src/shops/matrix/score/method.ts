export type FactorName =
  | 'short_interest_to_shares'
  | 'borrow_fee'
  | 'borrow_supply'
  | 'days_to_cover'
  | 'short_interest_change'
  | 'fails_to_shares'
  | 'fails_mean_to_shares'
  | 'price_vs_vwap'
  | 'short_volume_z'
  | 'return_5d'
  | 'volatility'

export type FactorRule = {
  name: FactorName
  weight: number
  /** Whether a high or a low value goes with more pressure on short sellers. */
  direction: 'high' | 'low'
  unit: string
  meaning: string
}

type FactorText = Omit<FactorRule, 'name' | 'weight'>

/** What the methods count, and what was tried and is not counted. */
const factorTexts: Record<FactorName, FactorText> = {
  short_interest_to_shares: {
    direction: 'high',
    unit: '%',
    meaning: 'short interest as a share of shares outstanding',
  },
  borrow_fee: { direction: 'high', unit: '% a year', meaning: 'indicative fee for borrowing the stock' },
  borrow_supply: { direction: 'low', unit: 'ratio', meaning: 'shares available to borrow for each share sold short' },
  days_to_cover: { direction: 'high', unit: 'days', meaning: 'short interest in days of average volume' },
  short_interest_change: {
    direction: 'high',
    unit: '%',
    meaning: 'change of short interest since the settlement before',
  },
  fails_to_shares: { direction: 'high', unit: '%', meaning: 'open fails to deliver as a share of shares outstanding' },
  fails_mean_to_shares: {
    direction: 'high',
    unit: '%',
    meaning: 'mean open fails of the newest half month as a share of shares outstanding',
  },
  price_vs_vwap: { direction: 'high', unit: '%', meaning: 'last close against the volume-weighted price of 20 days' },
  return_5d: { direction: 'high', unit: '%', meaning: 'return of the last five trading days' },
  volatility: { direction: 'high', unit: '%', meaning: 'standard deviation of daily returns over 60 days' },
  short_volume_z: {
    direction: 'high',
    unit: 'standard deviations',
    meaning: 'short share of volume against the symbol’s own 60 days',
  },
}

export const weighted = (weights: Partial<Record<FactorName, number>>): FactorRule[] =>
  (Object.entries(weights) as [FactorName, number][]).map(([name, weight]) => ({ name, weight, ...factorTexts[name] }))

export type ScoreMethodName = 'assay-squeeze-1' | 'assay-squeeze-2'

export type ScoreMethod = {
  name: ScoreMethodName
  factors: readonly FactorRule[]
  /**
   * What a place among n symbols is worth. `percentile`: 0..100. `halvings`: log2(n / place), so the first of 4,096 has 12
   * and the 64th has 6. Percentiles hardly tell the first from the hundredth, and that is where squeezes are.
   */
  points: 'percentile' | 'halvings'
  /** What an unknown factor does: hand its weight to the others, or count as the middle place. */
  unknown: 'reweighted' | 'middle'
  /** Where this factor is in use at all, a symbol without it is not ranked. */
  needs?: FactorName
  /** Whether catalysts add points or are only shown. */
  catalystsCount: boolean
}

/** log2(n / (n / 2)), for a missing factor. Left out instead, it would rank symbols of which little is known too high. */
export const middlePoints = 1

/** Changing anything in a method is a new method: what was published under a name can be made again under it. */
export const scoreMethods: Record<ScoreMethodName, ScoreMethod> = {
  // Prior beliefs from the literature, not fitted.
  'assay-squeeze-1': {
    name: 'assay-squeeze-1',
    factors: weighted({
      short_interest_to_shares: 25,
      borrow_fee: 20,
      borrow_supply: 10,
      days_to_cover: 10,
      short_interest_change: 10,
      fails_to_shares: 10,
      price_vs_vwap: 10,
      short_volume_z: 5,
    }),
    points: 'percentile',
    unknown: 'reweighted',
    catalystsCount: true,
  },
  // Chosen by walking forward through 2020-12 to 2021-04; the borrow fee, of which no history was at hand, by prior belief.
  'assay-squeeze-2': {
    name: 'assay-squeeze-2',
    factors: weighted({
      short_interest_to_shares: 25,
      fails_mean_to_shares: 25,
      price_vs_vwap: 25,
      borrow_fee: 25,
    }),
    points: 'halvings',
    unknown: 'middle',
    needs: 'short_interest_to_shares',
    catalystsCount: false,
  },
}

export const currentMethod = scoreMethods['assay-squeeze-2']

export const isScoreMethod = (name: string): name is ScoreMethodName => Object.hasOwn(scoreMethods, name)

/** Shown beside the score in every tier, whether or not the method counts them. */
export const shownFactors: readonly FactorRule[] = weighted({
  short_interest_to_shares: 0,
  days_to_cover: 0,
  borrow_fee: 0,
  fails_to_shares: 0,
})

export const catalystPoints = { volatility_pause_up: 10, threshold_entry: 8 } as const
export const catalystPointsMax = 15
/** A paused stock counts this long. */
export const pauseDaysMax = 5
/** Short interest above this multiple of the shares outstanding is a fault in the data, not a position. */
export const shortInterestRatioMax = 2
/** A symbol with less of the usable weight than this is not ranked: too little is known. */
export const usableWeightMin = 0.5

export const scoreMeaning =
  'Relative risk that short sellers are forced to cover, 0 to 100, by percentile within this universe. It is no probability, no forecast of returns and no advice.'
