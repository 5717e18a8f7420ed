import { toRfc3339 } from '@assay/till/kernel/clock'
import { Problem } from '@assay/till/kernel/problem'
import { z } from 'zod'
import { type CallContext, defineRoute, jsonAnswer, type RouteDeclaration } from '../../http/index.ts'
import { type OpenedSubscription, streamPath } from '../subscriptions/index.ts'
import { openStream } from './open-stream.ts'
import { fileEvents, listFiles, type PaidTime, seqBeforeNewestBucket, seriesOf } from './store.ts'
import { clusterList, position, type StreamDeps, streamFacts } from './stream-route.ts'
import { type StreamTickets, ticketMs, ticketPattern } from './stream-ticket.ts'
import { parseEventId } from './tick-event.ts'

export type BrowserDeps = StreamDeps & { tickets: StreamTickets }

const streamType = 'text/event-stream'
const linesType = 'application/x-ndjson'
const exampleTicket = `astk_${'A'.repeat(60)}.${'A'.repeat(43)}`

const ticketInput = z
  .string()
  .regex(ticketPattern, 'must be a ticket of this stream')
  .optional()
  .describe('In place of the token in Authorization, for clients that cannot send headers.')

/** What a subscriber reads without sending headers or without holding a line open. */
export function browserRoutes(deps: BrowserDeps): RouteDeclaration[] {
  return [ticketRoute(deps), eventsRoute(deps), filesRoute(deps), fileRoute(deps), seriesRoute(deps)]
}

/** By the ticket in the address or by the token in the header; both end with the token of the subscription. */
async function subscriberOf(deps: BrowserDeps, call: CallContext, ticket?: string): Promise<OpenedSubscription> {
  if (ticket === undefined) return deps.subscriptions.requireByToken(call.headers.get('authorization'))
  return deps.subscriptions.requireUnchanged(deps.tickets.open(ticket))
}

function ticketRoute(deps: BrowserDeps): RouteDeclaration {
  return defineRoute({
    id: 'market.intents.ticket',
    area: 'C',
    method: 'POST',
    path: `${streamPath}/ticket`,
    summary: 'A short-lived ticket that opens the intent stream from a browser',
    description:
      'The native EventSource cannot send headers: send the token of the subscription here and open `url`. A ticket opens the stream for 60 seconds; streams it opened take places of the subscription and end when its token is rotated or revoked.',
    output: z.strictObject({
      ticket: z.string(),
      url: z.string().describe('For new EventSource(url).'),
      seconds_left: z.number(),
      expires_at: z.string(),
    }),
    example: {
      output: {
        ticket: exampleTicket,
        url: `${deps.apiUrl}${streamPath}/events?ticket=${exampleTicket}`,
        seconds_left: 60,
        expires_at: '2026-01-01T10:01:00.000Z',
      },
    },
    next: `${streamPath}/events`,
    access: {
      kind: 'free',
      security: 'siwx',
      handle: async (_input, call) => {
        const subscriber = await deps.subscriptions.requireByToken(call.headers.get('authorization'))
        const { ticket, expiresAtMs } = deps.tickets.issue(subscriber)
        return jsonAnswer({
          ticket,
          url: `${deps.apiUrl}${streamPath}/events?ticket=${ticket}`,
          seconds_left: ticketMs / 1000,
          expires_at: toRfc3339(expiresAtMs),
        })
      },
    },
  })
}

function eventsRoute(deps: BrowserDeps): RouteDeclaration {
  return defineRoute({
    id: 'market.intents.events',
    area: 'C',
    method: 'GET',
    path: `${streamPath}/events`,
    summary: 'The intent stream for a subscriber, opened by a ticket in the address',
    query: z.strictObject({
      ticket: ticketInput,
      cluster: clusterList(deps).optional(),
      after: position.optional(),
    }),
    representations: [streamType],
    output: z.string(),
    example: { query: { ticket: exampleTicket }, output: ': still here' },
    next: `${streamPath}/ticket`,
    cost: 5,
    access: {
      kind: 'free',
      security: 'siwx',
      handle: async ({ query }, call) => {
        const { ticket, cluster, after } = query as { ticket?: string; cluster?: string[]; after?: string }
        const { wallet, tokenSha256, stored } = await subscriberOf(deps, call, ticket)
        const lastId = call.headers.get('last-event-id') || after
        const seq = lastId === undefined ? null : parseEventId(lastId)
        if (seq === undefined)
          throw new Problem('bad_request', { detail: 'Last-Event-ID is not the id of an event of this stream.' })
        await deps.streams.requireFree(wallet)
        const streamRequest = { clusters: cluster ?? null, after: seq, token_sha256: tokenSha256 }
        const shown = { subscription: stored.subscription, token: null, receipt: null, stream: streamFacts(deps) }
        return {
          status: 200,
          contentType: streamType,
          headers: { 'X-Accel-Buffering': 'no' },
          body: await openStream(deps, { ...stored, streamRequest }, shown),
        }
      },
    },
  })
}

const exampleFile = '2026-11-20.0'

function filesRoute(deps: BrowserDeps): RouteDeclaration {
  return defineRoute({
    id: 'market.intents.files',
    area: 'C',
    method: 'GET',
    path: `${streamPath}/files`,
    summary: 'Everything published since a subscription to the intent stream began, as files by day',
    query: z.strictObject({ ticket: ticketInput }),
    output: z.strictObject({
      data: z.array(
        z.strictObject({
          file: z.string(),
          day: z.string(),
          events: z.number(),
          complete: z.boolean().describe('false: events are added to it until its day is over or it has 1,000.'),
          url: z.string(),
        }),
      ),
      next_cursor: z.null(),
    }),
    example: {
      output: {
        data: [
          {
            file: exampleFile,
            day: '2026-11-20',
            events: 144,
            complete: true,
            url: `${deps.apiUrl}${streamPath}/files/${exampleFile}`,
          },
        ],
        next_cursor: null,
      },
    },
    next: `${streamPath}/series`,
    cost: 5,
    access: {
      kind: 'free',
      security: 'siwx',
      handle: async ({ query }, call) => {
        const paid = await paidTime(deps, await subscriberOf(deps, call, query.ticket))
        const today = toRfc3339(deps.clock.nowMs()).slice(0, 10)
        const files = await listFiles(deps.database, paid)
        return jsonAnswer({
          data: files.map(({ name, day, events, full }) => ({
            file: name,
            day,
            events,
            complete: full || day < today,
            url: `${deps.apiUrl}${streamPath}/files/${name}`,
          })),
          next_cursor: null,
        })
      },
    },
  })
}

/** The bucket that was the newest when the subscription began belongs to it; what is older was not paid for. */
const paidTime = async (deps: BrowserDeps, { wallet, fromMs }: OpenedSubscription): Promise<PaidTime> => ({
  after: await seqBeforeNewestBucket(deps.database, fromMs),
  pauses: await deps.subscriptions.pausesOf(wallet),
})

function fileRoute(deps: BrowserDeps): RouteDeclaration {
  return defineRoute({
    id: 'market.intents.file',
    area: 'C',
    method: 'GET',
    path: `${streamPath}/files/:file`,
    summary: 'Signed events of one day, one a line, byte for byte as they were streamed',
    params: z.strictObject({
      file: z.string().regex(/^\d{4}-\d\d-\d\d\.\d{1,4}$/, `must be a file such as ${exampleFile}`),
    }),
    query: z.strictObject({ ticket: ticketInput }),
    representations: [linesType],
    output: z.string(),
    example: { params: { file: exampleFile }, output: '{"specversion":"1.0"}' },
    next: `${streamPath}/files`,
    cost: 10,
    access: {
      kind: 'free',
      security: 'siwx',
      handle: async ({ params, query }, call) => {
        const paid = await paidTime(deps, await subscriberOf(deps, call, query.ticket))
        const events = await fileEvents(deps.database, params.file, paid)
        if (events.length === 0) throw new Problem('not_found', { detail: 'There is no such file.' })
        return {
          status: 200,
          contentType: linesType,
          headers: { 'content-disposition': `attachment; filename="intents-${params.file}.ndjson"` },
          body: events.map((event) => `${event}\n`).join(''),
        }
      },
    },
  })
}

function seriesRoute(deps: BrowserDeps): RouteDeclaration {
  return defineRoute({
    id: 'market.intents.series',
    area: 'C',
    method: 'GET',
    path: `${streamPath}/series`,
    summary: 'Demand of one topic over time, as a subscriber saw it published',
    query: z.strictObject({
      ticket: ticketInput,
      cluster: clusterList(deps).refine((ids) => ids.length === 1, 'must name one cluster'),
      after: position.optional(),
    }),
    output: z.strictObject({
      cluster: z.string(),
      data: z.array(
        z.strictObject({
          id: z.string(),
          starts_at: z.string(),
          ends_at: z.string(),
          demand: z.number(),
          bonded: z.number(),
          error_95: z.number().nullable().describe('95 of 100 figures of demand are at most so far from the truth.'),
          ewma: z.number().nullable(),
        }),
      ),
      next_cursor: z.string().nullable().describe('Send it as `after`.'),
    }),
    example: {
      query: { cluster: '52' },
      output: {
        cluster: '52',
        data: [
          {
            id: '0-42',
            starts_at: '2026-11-20T08:00:00.000Z',
            ends_at: '2026-11-20T09:00:00.000Z',
            demand: 640,
            bonded: 512,
            error_95: 247.2,
            ewma: 622.5,
          },
        ],
        next_cursor: null,
      },
    },
    next: `${streamPath}/files`,
    cost: 5,
    access: {
      kind: 'free',
      security: 'siwx',
      handle: async ({ query }, call) => {
        const { ticket, cluster, after } = query as { ticket?: string; cluster: string[]; after?: string }
        const paid = await paidTime(deps, await subscriberOf(deps, call, ticket))
        const wanted = cluster[0] as string
        const place = Math.max(paid.after, parseEventId(after ?? '') ?? 0)
        return jsonAnswer({ cluster: wanted, ...(await seriesOf(deps.database, wanted, { ...paid, after: place })) })
      },
    },
  })
}
