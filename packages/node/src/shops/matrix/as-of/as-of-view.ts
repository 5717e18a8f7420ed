import type { IsoDate } from '../calendar/dates.ts'
import type { SourceId } from '../sources/source.ts'
import type { FieldName } from '../sources/vendor-fields.ts'
import type { SecurityKind } from '../symbols/classify-security.ts'

/** Where a value comes from: one file, with the dates that matter for point-in-time use. */
export type Origin = {
  source: SourceId
  file: string
  sha256: string
  asOf: IsoDate
  availableAtMs: number
  revision: number
  synthetic: boolean
}

/** One value a symbol, NaN where unknown. All columns of a view have the same order of symbols. */
export type Column = {
  values: Float64Array
  /** Index into `origins`, the same for all rows unless `originOf` differs. */
  origin: number
  originOf?: Int16Array
  /** Where rows of one file describe different dates. */
  dayOf?: Int32Array
  /** Where rows of one file became public on different days. */
  availableDayOf?: Int32Array
  /** Further files the values were computed from, such as the days before. */
  behind?: readonly number[]
}

export type HaltEvent = {
  symbol: number
  reason: string
  market: string | null
  haltedAtMs: number
  quoteAtMs: number | null
  tradeAtMs: number | null
  pausePrice: number | null
  origin: number
}

/** Everything a feed is made of, as it was known at one moment. */
export type AsOfView = {
  knownAtMs: number
  /** Sorted, so that the same inputs always give the same order. */
  symbols: readonly string[]
  indexOf: ReadonlyMap<string, number>
  kinds: readonly (SecurityKind | undefined)[]
  names: readonly (string | null)[]
  listed: Uint8Array
  /** The directory files that names, kinds and listings come from. */
  listingOrigins: readonly number[]
  /** Symbols that were given up, and what their papers are called now. */
  renamed: ReadonlyMap<string, string>
  /** The files that show the splits and changes of symbols. */
  actionOrigins: readonly number[]
  /** Names as the companies file them: for answers that may not use the directory. */
  companyNames: readonly (string | null)[]
  companyNameOrigin: number
  origins: readonly Origin[]
  columns: Partial<Record<ColumnName, Column>>
  /** Newest last: short volume over total volume of each of the last days, one array a day. */
  ratioDays: readonly { day: number; ratios: Float64Array }[]
  halts: readonly HaltEvent[]
}

export type ColumnName =
  | 'short_volume'
  | 'exempt_volume'
  | 'total_volume'
  | 'short_ratio'
  | 'short_ratio_mean'
  | 'short_ratio_sd'
  | 'short_ratio_z'
  | 'short_interest'
  | 'previous_short_interest'
  | 'short_interest_change_pct'
  | 'short_interest_estimate'
  | 'short_interest_low'
  | 'short_interest_high'
  | 'average_volume'
  | 'days_to_cover'
  | 'shares_outstanding'
  | 'public_float_usd'
  | 'fails'
  | 'fails_mean'
  | 'fails_price'
  | 'threshold_days'
  | 'threshold_entered'
  | 'threshold_list'
  | 'borrow_fee_pct'
  | 'borrow_rebate_pct'
  | 'borrow_available'
  | 'borrow_available_capped'
  | FieldName
  | 'price_close'
  | 'price_vs_vwap_pct'
  | 'return_5d_pct'
  | 'volatility_pct'
  | 'holders'
  | 'held_shares'
  | 'held_value_usd'
