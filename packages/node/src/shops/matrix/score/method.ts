/** Version 1 of the score. Weights are prior beliefs from the literature, not fitted; changing any of this is a new version. */
export const scoreMethod = 'assay-squeeze-1'

export type FactorName =
  | 'short_interest_to_shares'
  | 'borrow_fee'
  | 'borrow_supply'
  | 'days_to_cover'
  | 'short_interest_change'
  | 'fails_to_shares'
  | 'price_vs_vwap'
  | 'short_volume_z'

export type FactorRule = {
  name: FactorName
  weight: number
  /** Whether a high or a low value goes with more pressure on short sellers. */
  direction: 'high' | 'low'
  unit: string
  meaning: string
}

export const factorRules: readonly FactorRule[] = [
  {
    name: 'short_interest_to_shares',
    weight: 25,
    direction: 'high',
    unit: '%',
    meaning: 'short interest as a share of shares outstanding',
  },
  {
    name: 'borrow_fee',
    weight: 20,
    direction: 'high',
    unit: '% a year',
    meaning: 'indicative fee for borrowing the stock',
  },
  {
    name: 'borrow_supply',
    weight: 10,
    direction: 'low',
    unit: 'ratio',
    meaning: 'shares available to borrow for each share sold short',
  },
  {
    name: 'days_to_cover',
    weight: 10,
    direction: 'high',
    unit: 'days',
    meaning: 'short interest in days of average volume',
  },
  {
    name: 'short_interest_change',
    weight: 10,
    direction: 'high',
    unit: '%',
    meaning: 'change of short interest since the settlement before',
  },
  {
    name: 'fails_to_shares',
    weight: 10,
    direction: 'high',
    unit: '%',
    meaning: 'open fails to deliver as a share of shares outstanding',
  },
  {
    name: 'price_vs_vwap',
    weight: 10,
    direction: 'high',
    unit: '%',
    meaning: 'last close against the volume-weighted price of 20 days',
  },
  {
    name: 'short_volume_z',
    weight: 5,
    direction: 'high',
    unit: 'standard deviations',
    meaning: 'short share of volume against the symbol’s own 60 days',
  },
]

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
