import { formatUsd } from '@assay/protocol/money'
import { toRfc3339 } from '@assay/till/kernel/clock'
import { z } from 'zod'
import { defineRoute, jsonAnswer, type RouteDeclaration } from '../../../http/index.ts'
import type { CoveredFeed } from '../../ports.ts'
import { feeds } from '../feeds/catalogue.ts'
import { type FeedId, feedIds } from '../feeds/feed.ts'
import { coverageOf, type SourceCoverage } from '../ingest/coverage.ts'
import type { MatrixDeps } from '../matrix-deps.ts'
import { feedUnavailable } from '../snapshots/feed-availability.ts'
import { isSnapshot } from '../snapshots/snapshot-cache.ts'
import { sourceState } from '../snapshots/staleness.ts'
import { sourceOf, unpublishedSources } from '../sources/catalogue.ts'

const exampleCoverage: SourceCoverage = {
  source: 'sec-fails',
  title: 'Fails to deliver',
  publisher: 'U.S. SEC',
  licence: 'us-government-work',
  may_be_shown: true,
  may_be_sold: true,
  fetched: true,
  first: '2026-08-14',
  last: '2026-10-30',
  available_at: '2026-11-17T01:00:00.000Z',
  age_seconds: 7200,
  wanted: 6,
  present: 6,
  missing: [],
  stale: false,
  last_check: { at: '2026-11-17T02:55:00.000Z', status: '304' },
  fix: null,
}

const entry = z.looseObject({
  id: z.enum(feedIds),
  title: z.string(),
  cadence: z.string(),
  columns: z.array(z.looseObject({ name: z.string(), unit: z.string(), meaning: z.string(), tier: z.string() })),
  sources: z.array(z.looseObject({ id: z.string(), licence: z.string() })),
  licence: z.looseObject({ sold: z.boolean() }),
  freshness: z.looseObject({
    as_of: z.string().nullable(),
    available_at: z.string().nullable(),
    stale: z.boolean(),
    synthetic: z.boolean(),
  }),
  tiers: z.array(z.string()),
  prices: z.record(z.string(), z.looseObject({ usd: z.string() })),
})

const coverage = z.strictObject({
  source: z.string(),
  title: z.string(),
  publisher: z.string(),
  licence: z.string(),
  may_be_shown: z.boolean(),
  may_be_sold: z.boolean(),
  fetched: z.boolean().describe('The node fetches it by itself.'),
  first: z.string().nullable().describe('The oldest day held.'),
  last: z.string().nullable().describe('The newest day held.'),
  available_at: z.string().nullable().describe('When the newest became public.'),
  age_seconds: z.number().nullable(),
  wanted: z.number().describe('Days, or other periods, that the feeds want.'),
  present: z.number(),
  missing: z.array(z.string()).describe('The newest of those not held.'),
  stale: z.boolean(),
  last_check: z.strictObject({ at: z.string(), status: z.string() }).nullable(),
  fix: z.string().nullable().describe('What the operator has to set or do.'),
})

/** GET /matrix: what each feed is, where it comes from, how old it is, what it costs. */
export function indexRoute(deps: MatrixDeps, loading: () => unknown): RouteDeclaration {
  return defineRoute({
    id: 'matrix.index',
    mcp: 'both',
    main: true,
    capability: 'equity.squeeze.index',
    area: 'B',
    method: 'GET',
    path: '/matrix',
    summary: 'All feeds: columns, sources, licences, freshness, tiers and prices',
    output: z.looseObject({ data: z.array(entry), coverage: z.array(coverage), next_cursor: z.null() }),
    example: {
      output: {
        data: [
          {
            id: 'squeeze',
            title: 'Squeeze ranking of all company shares, listed or not',
            cadence: 'whenever a source publishes; at least every trading day',
            columns: [{ name: 'score', unit: '0..100', meaning: 'relative risk of forced covering', tier: 'live' }],
            sources: [{ id: 'sec-fails', licence: 'us-government-work' }],
            licence: { sold: true },
            freshness: {
              as_of: '2026-11-13',
              available_at: '2026-11-13T23:00:00.000Z',
              stale: false,
              synthetic: false,
            },
            tiers: ['delayed', 'live', 'vip'],
            prices: { live: { usd: '0.05' } },
          },
        ],
        coverage: [exampleCoverage],
        next_cursor: null,
      },
    },
    next: '/matrix/squeeze/delayed',
    cacheSeconds: 5,
    access: {
      kind: 'free',
      handle: async () =>
        jsonAnswer({
          data: feedIds.map((id) => describeFeed(deps, id)),
          not_published: unpublishedSources,
          loading: loading(),
          coverage: coverageOf(deps, deps.looks.last()),
          next_cursor: null,
        }),
    },
  })
}

/** The same in short, for those who sell it by subscription. */
export function coveredFeed(deps: MatrixDeps, id: FeedId): CoveredFeed {
  const { freshness, coverage_pct, missing, not_available } = describeFeed(deps, id)
  const { as_of, available_at } = freshness
  return { feed: id, as_of, available_at, coverage_pct, missing, not_available: not_available?.why ?? null }
}

function describeFeed(deps: MatrixDeps, id: FeedId) {
  const feed = feeds[id]
  const nowMs = deps.clock.nowMs()
  const live = deps.snapshotCache.current(id, 'live')
  const delayed = deps.snapshotCache.current(id, 'delayed')
  const sold = isSnapshot(live)
  const reason = feedUnavailable(deps, id)
  const sources = [...feed.needs, ...feed.uses].map((source) => {
    const state = sourceState(deps.fileCache, source, nowMs)
    const { title, publisher, urlPattern, schedule, licence } = sourceOf(source)
    const synthetic = state.newest?.synthetic ?? false
    return {
      id: source,
      title,
      publisher,
      url_pattern: urlPattern,
      cadence: schedule.cadence,
      licence: synthetic ? 'synthetic' : licence.id,
      terms_url: licence.termsUrl,
      may_be_sold: deps.licences.may(source, synthetic, 'paid'),
      as_of: state.newest?.asOf ?? null,
      available_at: state.newest ? toRfc3339(state.newest.availableAtMs) : null,
      stale: state.stale,
      synthetic,
    }
  })
  return {
    id,
    title: feed.title,
    method: feed.method,
    ranked_by: feed.rankedBy,
    cadence: feed.cadence,
    columns: feed.columns,
    sources,
    licence: { sold, left_out: 'leftOut' in live ? live.leftOut : live.manifest.left_out },
    freshness: {
      as_of: sold ? live.manifest.as_of : null,
      available_at: sold ? live.manifest.available_at : null,
      delayed_available_at: isSnapshot(delayed) ? delayed.manifest.available_at : null,
      // What is not held at all is missing, and nothing here is old by it.
      stale: sources.some(({ id: source, stale, as_of }) => stale && as_of !== null && feed.needs.includes(source)),
      synthetic: sold ? live.manifest.synthetic : false,
    },
    coverage_pct: sold ? live.manifest.coverage_pct : null,
    row_count: sold ? live.manifest.row_count : null,
    missing: sources.filter(({ stale, as_of }) => stale || as_of === null).map(({ id: source }) => source),
    not_available: reason && { why: reason.why, detail: reason.detail, since: toRfc3339(reason.sinceMs) },
    tiers: ['delayed', ...(reason === undefined ? ['live', 'vip'] : [])],
    prices: {
      delayed: { usd: '0', micro: '0' },
      live: { usd: formatUsd(deps.prices.liveMicro), micro: deps.prices.liveMicro.toString() },
      vip: { usd: formatUsd(deps.prices.vipMicro), micro: deps.prices.vipMicro.toString() },
    },
    urls: Object.fromEntries(['live', 'vip', 'delayed', 'quality'].map((tier) => [tier, `/matrix/${id}/${tier}`])),
  }
}
