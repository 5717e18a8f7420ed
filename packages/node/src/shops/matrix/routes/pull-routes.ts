import type { Address } from '@assay/protocol/address'
import type { AnswerContent, Sale } from '@assay/till'
import type { PreparedAnswer } from '@assay/till/internal'
import { sha256 } from '@assay/till/kernel/bytes'
import { Problem } from '@assay/till/kernel/problem'
import { type CallContext, defineRoute, type RouteDeclaration, type RouteInput } from '../../../http/index.ts'
import { subscriptionProblems } from '../../subscriptions/index.ts'
import { type FeedId, feedIds, isFeedId } from '../feeds/feed.ts'
import type { MatrixDeps } from '../matrix-deps.ts'
import { allUnavailable, feedUnavailable } from '../snapshots/feed-availability.ts'
import { answerPull, type PullQuery, parquetType } from './answer-pull.ts'
import { pullExample } from './examples.ts'
import { coveredFeed } from './index-route.ts'
import { limitDefault } from './limits.ts'
import { anyFeedParams, feedParams, liveQuery, pullOutput, vipQuery } from './schemas.ts'
import { openSnapshotStream, type SnapshotStreamRequest } from './stream-snapshots.ts'

const streamType = 'text/event-stream'
const representations = ['application/json', 'text/csv', 'application/x-ndjson', parquetType]

export function unknownFeed(): Problem {
  return new Problem('not_found', {
    detail: 'There is no such feed.',
    hint: 'Use one of `feeds`; GET /matrix describes them.',
    extra: { feeds: feedIds },
  })
}

/** Before any 402, and in it. No I/O, the snapshots are in memory. */
export const onlyForSale = (deps: MatrixDeps) => ({
  routable: ({ feed = '' }: Record<string, string>) => {
    if (!isFeedId(feed)) throw unknownFeed()
  },
  unavailable: (params?: Record<string, string>) =>
    params === undefined ? allUnavailable(deps) : feedUnavailable(deps, params['feed'] as FeedId),
  dataState: ({ feed = '' }: Record<string, string>) => coveredFeed(deps, feed as FeedId),
})

export function pullRoutes(deps: MatrixDeps): RouteDeclaration[] {
  return [liveRoute(deps), vipRoute(deps), delayedRoute(deps)]
}

export const paid = (deps: MatrixDeps, micro: bigint) => ({
  kind: 'paid' as const,
  price: { kind: 'fixed' as const, micro },
  networks: [deps.network],
  payee: 'pay_to' as const,
  revocable: false,
})

function liveRoute(deps: MatrixDeps): RouteDeclaration {
  return defineRoute({
    id: 'matrix.live',
    mcp: 'both',
    capability: 'equity.squeeze.live',
    area: 'B',
    method: 'GET',
    path: '/matrix/:feed/live',
    summary: 'The newest snapshot of a feed, ranked',
    description:
      'Short-selling data from official sources, every value with source, as-of date, publication time and licence. Filter by symbol, limit, min_score or any column, sort by any column; page with cursor. JSON, CSV, NDJSON or Parquet. Covered by a standard or vip subscription. GET /matrix tells age, coverage and what is missing.',
    params: anyFeedParams,
    query: liveQuery,
    representations,
    output: pullOutput,
    example: { params: { feed: 'squeeze' }, query: { limit: '100' }, output: pullExample('live') },
    next: '/matrix/:feed/vip',
    access: {
      ...paid(deps, deps.prices.liveMicro),
      ...onlyForSale(deps),
      prepare: async (input, call): Promise<PreparedAnswer> => ({
        answer: await answerPull(deps, {
          feed: input.params.feed,
          tier: 'live',
          query: input.query,
          representation: call.representation,
        }),
      }),
    },
  })
}

export const vipRouteId = 'matrix.vip'

function vipRoute(deps: MatrixDeps): RouteDeclaration {
  return defineRoute({
    id: vipRouteId,
    mcp: 'both',
    capability: 'equity.squeeze.vip',
    area: 'B',
    method: 'GET',
    path: '/matrix/:feed/vip',
    summary: 'A feed with factor breakdown, history and point-in-time queries',
    description:
      'All of live, plus the factors behind each score, history=60 for one symbol (score, rank and factors by day, and what its sources said), and as_of= for what was known at a moment, revisions kept. Subscribers may add stream=1 for new snapshots as server-sent CloudEvents.',
    params: anyFeedParams,
    query: vipQuery,
    representations: [...representations, streamType],
    output: pullOutput,
    example: { params: { feed: 'squeeze' }, query: { symbol: 'GME', history: '60' }, output: pullExample('vip') },
    next: '/matrix/:feed/quality',
    access: {
      ...paid(deps, deps.prices.vipMicro),
      ...onlyForSale(deps),
      prepare: (input, call) => prepareVip(deps, input, call),
      commit: async (_tx, sale) => requireSubscriber(sale),
      release: async (answer) => (answer.contentType === streamType ? openStream(deps, answer) : answer),
    },
  })
}

async function prepareVip(
  deps: MatrixDeps,
  input: RouteInput,
  call: CallContext & { payer: Address; paymentId: string },
): Promise<PreparedAnswer> {
  const query = input.query as PullQuery
  const feed = input.params.feed as FeedId
  if (query.stream === undefined && call.representation !== streamType)
    return { answer: await answerPull(deps, { feed, tier: 'vip', query, representation: call.representation }) }
  // A payment buys one answer, and a stream is many.
  if (call.paymentId.startsWith('pay_')) throw new Problem(subscriptionProblems.subscription_required)
  const lastEventId = call.headers.get('last-event-id')
  if (lastEventId !== undefined && !/^[0-9a-f]{64}$/.test(lastEventId))
    throw new Problem('bad_request', { detail: 'Last-Event-ID is not the id of an event of this stream.' })
  await deps.streams.requireSubscribed(call.payer)
  await deps.streams.requireFree(call.payer)
  const token = /^Bearer (asub_\S+)$/i.exec(call.headers.get('authorization') ?? '')?.[1]
  const streamRequest: SnapshotStreamRequest = {
    feed,
    limit: query.limit ?? limitDefault,
    wallet: call.payer,
    token_sha256: token === undefined ? null : sha256(token).toString('hex'),
    ...(lastEventId === undefined ? {} : { last_event_id: lastEventId }),
    ...(query.alerts === undefined ? {} : { alerts: query.alerts }),
  }
  return {
    answer: { status: 200, contentType: streamType, body: JSON.stringify(streamRequest) },
    reservation: { stream: true },
  }
}

/** Credit pays for single answers, as a payment does. */
async function requireSubscriber(sale: Sale): Promise<undefined> {
  const isStream = (sale.reservation as { stream?: boolean } | null)?.stream === true
  if (isStream && sale.amountMicro > 0n) throw new Problem(subscriptionProblems.subscription_required)
}

async function openStream(
  deps: MatrixDeps,
  answer: AnswerContent & { body: Uint8Array | string },
): Promise<AnswerContent> {
  const streamRequest = JSON.parse(Buffer.from(answer.body).toString('utf8')) as SnapshotStreamRequest
  return {
    ...answer,
    headers: { ...answer.headers, 'X-Accel-Buffering': 'no' },
    body: await openSnapshotStream(deps, streamRequest),
  }
}

function delayedRoute(deps: MatrixDeps): RouteDeclaration {
  return defineRoute({
    id: 'matrix.delayed',
    mcp: 'both',
    main: true,
    capability: 'equity.squeeze.delayed',
    area: 'B',
    method: 'GET',
    path: '/matrix/:feed/delayed',
    summary: 'The newest snapshot that has been public for a while, free',
    description:
      'The same rows as live, from the newest snapshot whose data became available at least the delay ago (65 minutes unless the operator set another).',
    params: anyFeedParams,
    query: liveQuery,
    representations,
    output: pullOutput,
    example: { params: { feed: 'squeeze' }, query: { limit: '20' }, output: pullExample('delayed') },
    next: '/matrix/:feed/live',
    cacheSeconds: 5,
    access: {
      kind: 'free',
      handle: async (input, call) => {
        const { feed } = input.params as { feed: string }
        if (!feedParams.safeParse({ feed }).success) throw unknownFeed()
        return answerPull(deps, {
          feed: feed as FeedId,
          tier: 'delayed',
          query: input.query,
          representation: call.representation,
        })
      },
    },
  })
}
