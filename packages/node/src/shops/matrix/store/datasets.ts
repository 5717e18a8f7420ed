import type { DatasetId } from '../sources/source.ts'
import { fieldNames } from '../sources/vendor-fields.ts'

/** The columns of each table beside symbols, dates and file. Names come from here and never from a caller. */
export type DatasetColumns = { table: string; numbers: readonly string[]; texts: readonly string[] }

const dataset = (table: string, numbers: readonly string[], texts: readonly string[] = []): DatasetColumns => ({
  table,
  numbers,
  texts,
})

export const datasets: Record<DatasetId, DatasetColumns> = {
  short_volume: dataset('matrix_short_volume_block', ['short_volume', 'exempt_volume', 'total_volume']),
  short_interest: dataset('matrix_short_interest_block', [
    'position',
    'previous_position',
    'average_volume',
    'days_to_cover',
    'split',
    'prior_revised',
  ]),
  fails: dataset('matrix_fails_block', ['quantity', 'price'], ['cusip']),
  threshold: dataset('matrix_threshold_block', ['rule_3210'], ['name', 'category']),
  borrow: dataset('matrix_borrow_block', ['fee_pct', 'rebate_pct', 'available', 'available_capped']),
  halts: dataset(
    'matrix_halts_block',
    ['halted_at_ms', 'quote_at_ms', 'trade_at_ms', 'pause_price'],
    ['reason', 'market', 'name'],
  ),
  shares: dataset('matrix_shares_block', ['shares', 'filed_day', 'float_usd'], ['accession']),
  tickers: dataset('matrix_tickers_block', ['cik'], ['name']),
  holdings: dataset('matrix_holdings_block', ['holders', 'shares', 'value_usd']),
  listings: dataset('matrix_listings_block', ['etf', 'test', 'kind'], ['name', 'exchange']),
  actions: dataset('matrix_actions_block', ['factor'], ['new_symbol']),
  prices: dataset('matrix_prices_block', ['open', 'high', 'low', 'close', 'volume']),
  fields: dataset('matrix_fields_block', fieldNames),
}
