import type { Address } from '@assay/protocol/address'
import type { Json } from '@assay/protocol/canonical-json'
import type { Sale } from '@assay/till'
import type { PreparedAnswer } from '@assay/till/internal'
import { sha256 } from '@assay/till/kernel/bytes'
import { toRfc3339 } from '@assay/till/kernel/clock'
import { Problem } from '@assay/till/kernel/problem'
import { carriesPayment } from '@assay/till/selling'
import { z } from 'zod'
import {
  type CallContext,
  defineRoute,
  type RouteDeclaration,
  type RouteInput,
  type Since,
  type Unavailable,
} from '../../http/index.ts'
import {
  exampleSubscription,
  type StoredStreamSubscription,
  type StreamSubscriptions,
  type SubscriptionStreams,
  streamPath,
  streamRouteId,
  subscriptionProblems,
  subscriptionSchema,
} from '../subscriptions/index.ts'
import { taxonomyAttribution } from './clusters.ts'
import type { IntentDeps } from './deps.ts'
import type { Feed } from './feed.ts'
import { openStream } from './open-stream.ts'
import { promisedError } from './plan.ts'
import { keepsPromise, percent } from './signal.ts'
import { parseEventId } from './tick-event.ts'

export type StreamDeps = IntentDeps & {
  feed: Feed
  subscriptions: StreamSubscriptions
  streams: SubscriptionStreams
  network: string
  since: Since
}

/** What the caller wants to read, kept with the sale. */
export type StreamRequest = { clusters: string[] | null; after: number | null; token_sha256: string | null }

const streamType = 'text/event-stream'
const clustersMax = 20

const facts = z.strictObject({
  url: z.string(),
  heartbeat_seconds: z.number(),
  bucket_seconds: z.number(),
  replay_hours: z.number(),
  connections: z.number(),
  clusters: z.string(),
  attribution: z.string(),
})

const output = z.strictObject({
  subscription: subscriptionSchema.nullable(),
  token: z
    .string()
    .nullable()
    .describe('Send it as Authorization: Bearer to open the stream. Returned again to the wallet that paid.'),
  receipt: z.string().nullable().describe('The signed receipt of the payment (JWS).'),
  stream: facts,
})

export const streamFacts = ({
  apiUrl,
  settings,
  feed,
}: Pick<StreamDeps, 'apiUrl' | 'settings' | 'feed'>): z.infer<typeof facts> => ({
  url: `${apiUrl}${streamPath}`,
  heartbeat_seconds: 15,
  bucket_seconds: feed.plan().bucketMs / 1000,
  replay_hours: settings.replayMs / 3_600_000,
  connections: settings.connections,
  clusters: `${streamPath}/clusters`,
  attribution: taxonomyAttribution,
})

export const clusterList = (deps: IntentDeps) =>
  z
    .string()
    .max(700)
    .transform((text) => [...new Set(text.split(',').map((part) => part.trim()))])
    .refine((ids) => ids.length <= clustersMax, `must name at most ${clustersMax} clusters`)
    .refine((ids) => ids.every((id) => deps.clusterTable.byId.has(id)), {
      error: ({ input }) =>
        `names no cluster of this stream: ${(input as string[])
          .filter((id) => !deps.clusterTable.byId.has(id))
          .join(', ')
          .slice(0, 80)}`,
    })
    .describe(`Only these clusters, ids separated by commas; ${streamPath}/clusters lists them.`)

export const position = z
  .string()
  .refine((text) => parseEventId(text) !== undefined, 'must be the id of an event of this stream, such as 0-42')
  .describe('Goes on after this event; Last-Event-ID says the same.')

/** Sells the stream and opens it. Paid and asked for as a stream, it goes on as one. */
export function streamRoute(deps: StreamDeps): RouteDeclaration {
  return defineRoute({
    id: streamRouteId,
    area: 'C',
    method: 'GET',
    path: streamPath,
    summary: 'What agents search for, by topic and time: noisy counts, trend and rising terms, as a live stream',
    description:
      'Pays for 30 x 24 h. With Accept: text/event-stream the paid answer goes on as server-sent CloudEvents, each signed; otherwise it is JSON with a token. Token or wallet proof open it afterwards. Resume with Last-Event-ID. Never a query or a wallet: bounded, noisy, budgeted; each figure has its 95 % error, and all errors of a day are at most 25 % of its demand or the stream is not sold. Taxonomy: IAB 3.1, CC BY 3.0.',
    query: z.strictObject({ cluster: clusterList(deps).optional(), after: position.optional() }),
    representations: ['application/json', streamType],
    output,
    example: {
      query: { cluster: '52' },
      output: {
        subscription: { ...exampleSubscription, tier: 'stream', price_usd: '5000' },
        token: `asub_1_${'0'.repeat(52)}`,
        receipt: 'eyJ…',
        stream: streamFacts(deps),
      },
    },
    next: `${streamPath}/sample`,
    access: {
      kind: 'paid',
      price: { kind: 'fixed', micro: deps.subscriptions.priceMicro },
      networks: [deps.network],
      payee: 'pay_to',
      revocable: true,
      consumption: { seconds: 30 * 86_400 },
      unavailable: () => streamUnavailable(deps),
      dataState: () => {
        const figureMs = deps.feed.newestFigureMs()
        return { newest_figure_at: figureMs === undefined ? null : toRfc3339(figureMs) }
      },
      prepare: async (input, call) => prepareStream(deps, input, call),
      commit: (tx, sale) => commitStream(deps, tx, sale),
      revoke: (tx, sale) => deps.subscriptions.revoke(tx, sale.paymentId, deps.clock.nowMs()),
      release: async (answer, paymentResponse) => {
        const stored = JSON.parse(Buffer.from(answer.body).toString('utf8')) as Stored
        const shown = {
          subscription: stored.subscription,
          token: await deps.subscriptions.tokenOf(stored),
          receipt: deps.subscriptions.receiptInHeaders(paymentResponse),
          stream: streamFacts(deps),
        }
        if (answer.contentType !== streamType) return { ...answer, body: JSON.stringify(shown) }
        return {
          ...answer,
          headers: { ...answer.headers, 'X-Accel-Buffering': 'no' },
          body: await openStream(deps, stored, shown),
        }
      },
    },
  })
}

/** A stream is sold while it says something: a figure was published within the time that can be replayed, with the errors promised. */
export function streamUnavailable({ feed, clock, settings, since }: StreamAvailability): Unavailable | undefined {
  const figureMs = feed.newestFigureMs()
  const signal = feed.signal()
  const silent = figureMs === undefined || clock.nowMs() - figureMs > settings.replayMs
  const noisy = !silent && !keepsPromise(signal)
  const noticedMs = since('stream', silent || noisy)
  if (noisy)
    return {
      why: 'no_signal',
      detail: `The errors of the last day are ${signal?.error == null ? 'larger than its figures' : `${percent(signal.error)} % of its demand`}; the stream promises ${percent(promisedError)} %.`,
      sinceMs: noticedMs,
    }
  if (!silent) return undefined
  return figureMs === undefined
    ? { why: 'no_signal', detail: 'No figure of this stream has been published yet.', sinceMs: noticedMs }
    : {
        why: 'no_signal',
        detail: `No figure has been published since ${toRfc3339(figureMs)}.`,
        sinceMs: figureMs + settings.replayMs,
      }
}

export type StreamAvailability = Pick<StreamDeps, 'feed' | 'clock' | 'settings' | 'since'>

type Stored = StoredStreamSubscription & { streamRequest: StreamRequest }

async function prepareStream(
  deps: StreamDeps,
  input: RouteInput,
  call: CallContext & { payer: Address },
): Promise<PreparedAnswer> {
  const { cluster, after } = input.query as { cluster?: string[]; after?: string }
  const lastId = call.headers.get('last-event-id') || after
  const seq = lastId === undefined ? null : parseEventId(lastId)
  if (seq === undefined)
    throw new Problem('bad_request', { detail: 'Last-Event-ID is not the id of an event of this stream.' })
  const wantsStream = call.representation === streamType
  const subscribed = call.headers.has('authorization') || call.headers.has('sign-in-with-x')
  // A buyer is let in whatever else is open; the stream itself then says that there are too many.
  if (wantsStream && subscribed && !carriesPayment(call.headers)) await deps.streams.requireFree(call.payer)
  const token = /^Bearer (asub_\S+)$/i.exec(call.headers.get('authorization') ?? '')?.[1]
  const streamRequest: StreamRequest = {
    clusters: cluster ?? null,
    after: seq,
    token_sha256: token === undefined ? null : sha256(token).toString('hex'),
  }
  return {
    answer: { status: 200, contentType: wantsStream ? streamType : 'application/json', body: '{}' },
    reservation: { ...streamRequest, content_type: wantsStream ? streamType : 'application/json' } as Json,
  }
}

/** Bought, by payment or credit: a period is granted. Opened with what was bought before: nothing changes. */
async function commitStream(deps: StreamDeps, tx: Parameters<StreamSubscriptions['grant']>[0], sale: Sale) {
  const { content_type, ...streamRequest } = sale.reservation as unknown as StreamRequest & { content_type: string }
  const stored =
    sale.amountMicro > 0n ? await deps.subscriptions.grant(tx, sale) : await deps.subscriptions.describe(tx, sale.payer)
  if (!stored) throw new Problem(subscriptionProblems.subscription_required)
  return { status: 200, contentType: content_type, body: JSON.stringify({ ...stored, streamRequest }) }
}
