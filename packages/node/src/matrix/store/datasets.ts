import type { DatasetId } from '../sources/source.ts'

/** The columns of each table beside symbol, date and file. Names come from here and never from a caller. */
export type DatasetColumns = { table: string; numbers: readonly string[]; texts: readonly string[] }

const dataset = (table: string, numbers: readonly string[], texts: readonly string[] = []): DatasetColumns => ({
  table,
  numbers,
  texts,
})

export const datasets: Record<DatasetId, DatasetColumns> = {
  short_volume: dataset('matrix_short_volume', ['short_volume', 'exempt_volume', 'total_volume']),
  short_interest: dataset('matrix_short_interest', [
    'position',
    'previous_position',
    'average_volume',
    'days_to_cover',
    'split',
    'prior_revised',
  ]),
  fails: dataset('matrix_fails', ['quantity', 'price'], ['cusip']),
  threshold: dataset('matrix_threshold', ['rule_3210'], ['name', 'category']),
  borrow: dataset('matrix_borrow', ['fee_pct', 'rebate_pct', 'available', 'available_capped']),
  halts: dataset(
    'matrix_halts',
    ['halted_at_ms', 'quote_at_ms', 'trade_at_ms', 'pause_price'],
    ['reason', 'market', 'name'],
  ),
  shares: dataset('matrix_shares', ['shares', 'filed_day'], ['accession']),
  tickers: dataset('matrix_tickers', ['cik'], ['name']),
  holdings: dataset('matrix_holdings', ['holders', 'shares', 'value_usd']),
  listings: dataset('matrix_listings', ['etf', 'test', 'kind'], ['name', 'exchange']),
  prices: dataset('matrix_prices', ['open', 'high', 'low', 'close', 'volume']),
}
