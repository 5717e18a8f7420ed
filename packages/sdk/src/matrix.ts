import type { AssayClient } from './client.ts'
import { type FollowOptions, followStream, type StreamedEvent } from './intents/follow-stream.ts'
import { readJson } from './read-json.ts'

export type MatrixValue = {
  value: number | string | boolean
  source: string
  as_of: string
  available_at: string
  licence: string
}

export type MatrixRow = {
  rank: number
  symbol: string
  name: string | null
  kind: string
  score?: number
  coverage_pct?: number
  catalysts?: string[]
  values: Record<string, MatrixValue | null>
  trend?: { of: string; values: (number | null)[] }
  factors?: Record<string, (MatrixValue & { percentile: number; weight: number; points: number }) | null>
  details?: Record<string, MatrixValue | null>
}

/** One day of a series, with the values of its source. */
export type MatrixHistoryRow = {
  as_of: string
  source: string
  available_at: string
  ingested_at: string
  revision: number
  licence: string
} & { [column in MatrixHistoryColumn]?: number | null }

export type MatrixHistoryColumn =
  | 'short_volume'
  | 'exempt_volume'
  | 'total_volume'
  | 'position'
  | 'previous_position'
  | 'average_volume'
  | 'days_to_cover'
  | 'quantity'
  | 'price'
  | 'fee_pct'
  | 'rebate_pct'
  | 'available'
  | 'close'
  | 'volume'

/** Oldest first; by series: short_volume, short_interest, fails, borrow, price. */
export type MatrixHistory = { symbol: string; days: number; series: Record<string, MatrixHistoryRow[]> }

export type MatrixAnswer = {
  feed: string
  tier: 'live' | 'vip' | 'delayed'
  as_of: string
  available_at: string
  data_vintage: string
  sha256: string
  method: string
  coverage_pct: number
  row_count: number
  ranked_by: string
  synthetic: boolean
  stale: boolean
  next_expected_at: string | null
  sources: { source: string; as_of: string; available_at: string; licence: string; attribution: string }[]
  left_out: { source: string; reason: string }[]
  unranked: Record<string, string>
  disclaimer: string
  data: MatrixRow[]
  next_cursor: string | null
  history?: MatrixHistory
}

export type MatrixIndexEntry = {
  id: string
  title: string
  cadence: string
  licence: { sold: boolean }
  freshness: { as_of: string | null; available_at: string | null; stale: boolean; synthetic: boolean }
  tiers: string[]
  prices: Record<string, { usd: string }>
}

export type MatrixQuery = { symbol?: string; limit?: number; min_score?: number | string; cursor?: string }
export type MatrixVipQuery = MatrixQuery & { as_of?: string; history?: number }

export type Matrix = {
  index(): Promise<{ data: MatrixIndexEntry[] }>
  /** Free. */
  delayed(feed: string, query?: MatrixQuery): Promise<MatrixAnswer>
  /** Pays for one pull, within the client's policy. */
  live(feed: string, query?: MatrixQuery): Promise<MatrixAnswer>
  vip(feed: string, query?: MatrixVipQuery): Promise<MatrixAnswer>
  /** Free: how well the feed told what followed. */
  quality(feed: string): Promise<Record<string, unknown>>
  /** New snapshots as they are made; needs the token of a vip subscription. Comes back by itself. */
  stream(feed: string, options: Omit<FollowOptions, 'path' | 'buy'> & { limit?: number }): AsyncGenerator<StreamedEvent>
  /** All rows of the free tier, page by page. */
  pages(feed: string, query?: MatrixQuery): AsyncGenerator<MatrixAnswer>
}

/** The market data feeds of a node, over a client that pays and verifies. */
export function createMatrix(client: Pick<AssayClient, 'fetch' | 'quote' | 'pinnedKeys'>): Matrix {
  const get = async <Answer>(path: string, query: MatrixVipQuery = {}): Promise<Answer> => {
    const search = new URLSearchParams(
      Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
    ).toString()
    return readJson<Answer>(await client.fetch(search === '' ? path : `${path}?${search}`))
  }
  const feedPath = (feed: string, tier: string) => `/matrix/${encodeURIComponent(feed)}/${tier}`
  const delayed = (feed: string, query?: MatrixQuery) => get<MatrixAnswer>(feedPath(feed, 'delayed'), query)
  return {
    index: () => get('/matrix'),
    delayed,
    live: (feed, query) => get(feedPath(feed, 'live'), query),
    vip: (feed, query) => get(feedPath(feed, 'vip'), query),
    quality: (feed) => get(feedPath(feed, 'quality')),
    stream: (feed, { limit, ...options }) =>
      followStream(client, {
        ...options,
        path: `${feedPath(feed, 'vip')}?stream=1${limit === undefined ? '' : `&limit=${limit}`}`,
      }),
    async *pages(feed, query = {}) {
      let cursor: string | null | undefined = query.cursor
      do {
        const page: MatrixAnswer = await delayed(feed, { ...query, ...(cursor ? { cursor } : {}) })
        yield page
        cursor = page.next_cursor
      } while (cursor)
    },
  }
}
