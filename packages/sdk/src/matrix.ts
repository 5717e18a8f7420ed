import { type AnswerOf, callOperation, type OperationId, type QueryOf, type RowOf } from './call-operation.ts'
import type { AssayClient } from './client.ts'
import { type FollowOptions, followStream, type StreamedEvent } from './intents/follow-stream.ts'
import type { Operations } from './operations.generated.ts'

/** The answer of every tier; only vip has `factors`, `details` and `history`. */
export type MatrixAnswer = AnswerOf<'matrix.vip'>
export type MatrixRow = RowOf<'matrix.vip'>
export type MatrixValue = NonNullable<MatrixRow['values'][string]>
/** Oldest first; by series: short_volume, short_interest, fails, borrow, price. */
export type MatrixHistory = NonNullable<MatrixAnswer['history']>
/** One day of a series, with the values of its source. */
export type MatrixHistoryRow = MatrixHistory['series'][string][number]
export type MatrixIndexEntry = RowOf<'matrix.index'>
export type MatrixQuery = QueryOf<'matrix.live'>
export type MatrixVipQuery = QueryOf<'matrix.vip'>

export type Matrix = {
  index(): Promise<AnswerOf<'matrix.index'>>
  /** Free. */
  delayed(feed: string, query?: MatrixQuery): Promise<MatrixAnswer>
  /** Pays for one pull, within the client's policy. */
  live(feed: string, query?: MatrixQuery): Promise<MatrixAnswer>
  vip(feed: string, query?: MatrixVipQuery): Promise<MatrixAnswer>
  /** Free: how well the feed predicted what followed. */
  quality(feed: string): Promise<AnswerOf<'matrix.quality'>>
  /** New snapshots as they are made; needs the token of a vip subscription. Comes back by itself. */
  stream(
    feed: string,
    options: Omit<FollowOptions, 'path' | 'buy'> & { limit?: number; alerts?: string },
  ): AsyncGenerator<StreamedEvent>
  /** Files of past months, with their hashes; each is bought at /matrix/:feed/bulk/:file. */
  bulk(feed: string): Promise<AnswerOf<'matrix.bulk'>>
  /** All rows of the free tier, page by page. */
  pages(feed: string, query?: MatrixQuery): AsyncGenerator<MatrixAnswer>
}

/** The market data feeds of a node, over a client that pays and verifies. */
export function createMatrix(client: Pick<AssayClient, 'fetch' | 'quote' | 'pinnedKeys'>): Matrix {
  const get = async <Id extends OperationId>(id: Id, input: Operations[Id]['input']) =>
    (await callOperation(client, id, input)).data
  const delayed = (feed: string, query: MatrixQuery = {}) => get('matrix.delayed', { params: { feed }, query })
  return {
    index: () => get('matrix.index', {}),
    delayed,
    live: (feed, query = {}) => get('matrix.live', { params: { feed }, query }),
    vip: (feed, query = {}) => get('matrix.vip', { params: { feed }, query }),
    quality: (feed) => get('matrix.quality', { params: { feed } }),
    bulk: (feed) => get('matrix.bulk', { params: { feed } }),
    stream: (feed, { limit, alerts, ...options }) =>
      followStream(client, {
        ...options,
        path: `/matrix/${encodeURIComponent(feed)}/vip?stream=1${limit === undefined ? '' : `&limit=${limit}`}${alerts === undefined ? '' : `&alerts=${encodeURIComponent(alerts)}`}`,
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
