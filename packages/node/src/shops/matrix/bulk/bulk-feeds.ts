import type { FeedId } from '../feeds/feed.ts'
import type { DatasetId, SourceId } from '../sources/source.ts'

/** What a month of a feed is made of: the rankings of its days, or the rows of its sources in all revisions. */
export type BulkFeed =
  | { kind: 'scores' }
  | {
      kind: 'rows'
      sources: readonly SourceId[]
      dataset: DatasetId
      numbers: readonly string[]
      texts: readonly string[]
      part?: string
    }

const rows = (
  sources: readonly SourceId[],
  dataset: DatasetId,
  numbers: readonly string[],
  texts: readonly string[] = [],
): BulkFeed => ({ kind: 'rows', sources, dataset, numbers, texts })

/** Holdings are kept by an identifier that is never shown, so they have no files. */
export const bulkFeeds: Partial<Record<FeedId, BulkFeed>> = {
  squeeze: { kind: 'scores' },
  equities: { kind: 'scores' },
  etf: { kind: 'scores' },
  'short-volume': {
    ...(rows(['finra-short-volume'], 'short_volume', ['short_volume', 'exempt_volume', 'total_volume']) as Extract<
      BulkFeed,
      { kind: 'rows' }
    >),
    part: 'CNMS',
  },
  'short-interest': rows(['finra-short-interest'], 'short_interest', [
    'position',
    'previous_position',
    'average_volume',
    'days_to_cover',
  ]),
  ftd: rows(['sec-fails'], 'fails', ['quantity', 'price']),
  threshold: rows(['nasdaq-threshold', 'nyse-threshold', 'cboe-threshold'], 'threshold', [], ['category']),
  borrow: rows(['ibkr-borrow'], 'borrow', ['fee_pct', 'rebate_pct', 'available', 'available_capped']),
  halts: rows(
    ['nasdaq-halts'],
    'halts',
    ['halted_at_ms', 'quote_at_ms', 'trade_at_ms', 'pause_price'],
    ['reason', 'market'],
  ),
}
