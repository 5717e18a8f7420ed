import { toRfc3339 } from '@assay/till/kernel/clock'
import { Problem } from '@assay/till/kernel/problem'
import { z } from 'zod'
import { defineRoute, jsonAnswer, type RouteDeclaration } from '../../../http/index.ts'
import { type FeedId, feedIds } from '../feeds/feed.ts'
import type { MatrixDeps } from '../matrix-deps.ts'
import { parquetType } from '../routes/answer-pull.ts'
import { disclaimer } from '../routes/envelope.ts'
import { onlyForSale, paid, unknownFeed } from '../routes/pull-routes.ts'
import { anyFeedParams, feedParams } from '../routes/schemas.ts'
import { bulkEntries, makeBulkFile } from './bulk-store.ts'
import { bulkInputs } from './make-table.ts'
import { type BulkFormat, bulkFormats } from './render-table.ts'

const filePattern = /^(\d{4}-(?:0[1-9]|1[0-2]))\.(csv|parquet)$/

const entry = z.strictObject({
  file: z.string().describe('GET /matrix/:feed/bulk/:file'),
  month: z.string(),
  format: z.enum(bulkFormats),
  rows: z.number(),
  bytes: z.number(),
  sha256: z.string().describe('Of the bytes of the file.'),
  made_of: z.string().describe('Of everything it is made of: while it stays the same, so do the bytes.'),
  made_at: z.string(),
})

/** The manifest of what can be downloaded in bulk, and the files. */
export function bulkRoutes(deps: MatrixDeps): RouteDeclaration[] {
  return [manifestRoute(deps), fileRoute(deps)]
}

function manifestRoute(deps: MatrixDeps): RouteDeclaration {
  return defineRoute({
    id: 'matrix.bulk',
    capability: 'equity.squeeze.bulk',
    area: 'B',
    method: 'GET',
    path: '/matrix/:feed/bulk',
    summary: 'Files of past months of a feed, with their hashes',
    description:
      'One CSV and one Parquet file a month. Rankings: rank, score, strength and factors of each day as known before its open. Other feeds: what the sources said, in all revisions, each with the moment it became public.',
    params: anyFeedParams,
    output: z.strictObject({
      feed: z.enum(feedIds),
      data: z.array(entry),
      price_usd_per_file: z.string(),
      disclaimer: z.string(),
      next_cursor: z.null(),
    }),
    example: {
      params: { feed: 'squeeze' },
      output: {
        feed: 'squeeze',
        data: [
          {
            file: '2026-10.csv',
            month: '2026-10',
            format: 'csv',
            rows: 220_000,
            bytes: 14_000_000,
            sha256: '0'.repeat(64),
            made_of: '0'.repeat(64),
            made_at: '2026-11-02T14:00:00.000Z',
          },
        ],
        price_usd_per_file: '0.25',
        disclaimer,
        next_cursor: null,
      },
    },
    next: '/matrix/:feed/vip',
    // Never shared for seconds: after a download it must say what was downloaded.
    access: {
      kind: 'free',
      handle: async (input) => {
        const { feed } = input.params as { feed: FeedId }
        if (!feedParams.safeParse({ feed }).success) throw unknownFeed()
        const found = await bulkEntries(deps.database, feed)
        return jsonAnswer({
          feed,
          data: found.map(({ month, format, rows, bytes, sha256, key, madeAtMs }) => ({
            file: `${month}.${format}`,
            month,
            format,
            rows,
            bytes,
            sha256,
            made_of: key,
            made_at: toRfc3339(madeAtMs),
          })),
          price_usd_per_file: (Number(deps.prices.vipMicro) / 1e6).toString(),
          disclaimer,
          next_cursor: null,
        })
      },
    },
  })
}

const noFile = () =>
  new Problem('not_found', { detail: 'There is no such file.', hint: 'GET /matrix/:feed/bulk lists them.' })

function fileRoute(deps: MatrixDeps): RouteDeclaration {
  const forSale = onlyForSale(deps)
  return defineRoute({
    // Covered by what covers matrix.vip.*.
    id: 'matrix.vip.bulk',
    capability: 'equity.squeeze.bulk.file',
    area: 'B',
    method: 'GET',
    path: '/matrix/:feed/bulk/:file',
    summary: 'One month of a feed as a file',
    params: z.strictObject({ feed: z.string().max(40), file: z.string().max(20) }),
    representations: ['text/csv', parquetType, 'application/octet-stream'],
    output: z.string(),
    example: { params: { feed: 'squeeze', file: '2026-10.csv' }, output: 'day,symbol,method,rank,score,strength' },
    next: '/matrix/:feed/bulk',
    access: {
      ...paid(deps, deps.prices.vipMicro),
      ...forSale,
      routable: (params) => {
        forSale.routable(params)
        if (!filePattern.test(params['file'] ?? '')) throw noFile()
      },
      prepare: async ({ params }) => {
        const [, month = '', format = ''] = filePattern.exec(params.file) ?? []
        const wanted = { feed: params.feed as FeedId, month, format: format as BulkFormat }
        const inputs = await bulkInputs(deps, wanted.feed, month)
        if (!inputs) throw noFile()
        const { bytes } = await makeBulkFile(deps, wanted, inputs)
        const contentType = format === 'csv' ? 'text/csv; charset=utf-8' : parquetType
        const name = `${wanted.feed}-${params.file}`
        return {
          answer: {
            status: 200,
            contentType,
            headers: { 'content-disposition': `attachment; filename="${name}"` },
            body: bytes,
          },
        }
      },
    },
  })
}
