import { eventText, type OpenReader, type Slots, signedEvent } from '../../http/index.ts'
import { type Address, parseAddress } from '../../kernel/address.ts'
import type { Json } from '../../kernel/canonical-json.ts'
import { toRfc3339 } from '../../kernel/clock.ts'
import { Problem } from '../../kernel/problem.ts'
import type { StoredStreamSubscription } from '../../subscriptions/index.ts'
import { toHubEvent } from './feed.ts'
import { eventsAfter, newestSeq, seqBefore } from './store.ts'
import type { StreamDeps, Wish } from './stream-route.ts'
import { eventId, streamPath } from './tick-event.ts'

/** Small, for a reader that stops in the middle of it keeps one page in memory. */
const pageSize = 20
/** How soon a stream ends whose subscription was taken back or whose token was changed. */
export const recheckMs = 5_000

type Told = 'subscription' | 'gap' | 'end'

/** Events about the stream itself: they have no place in the log and no id to come back to. */
function noticeText(deps: StreamDeps, kind: Told, subject: string, data: Json): Buffer {
  const attributes = {
    id: `${kind}-${Buffer.from(deps.rng.bytes(8)).toString('hex')}`,
    source: `${deps.apiUrl}${streamPath}`,
    type: `market.intent.${kind}.v1`,
    subject,
    time: toRfc3339(deps.clock.nowMs()),
  }
  return Buffer.from(eventText(null, kind, signedEvent(deps.jws, attributes, JSON.stringify(data))))
}

const gapText = (deps: StreamDeps, from: number, to: number, reason: string) =>
  noticeText(deps, 'gap', 'all', {
    from: eventId(from),
    to: eventId(to),
    count: to - from + 1,
    reason,
    // Only what was left out for a slow reader is still there to be asked for.
    resume:
      reason === 'slow_reader'
        ? `Reconnect with Last-Event-ID: ${eventId(Math.max(0, from - 1))}`
        : 'These events cannot be had; the stream goes on with what comes next.',
  })

const endText = (deps: StreamDeps, reason: string) =>
  noticeText(deps, 'end', 'all', { reason, renew: streamPath, subscriptions: '/v1/subscriptions?product=stream' })

/** The stream that follows a purchase or an opening: first who it is for, then what was missed, then what comes. */
export async function openStream(
  deps: StreamDeps,
  slots: Slots,
  stored: StoredStreamSubscription & { wish: Wish },
  shown: Record<string, unknown>,
): Promise<AsyncIterable<Uint8Array>> {
  const { wish, subscription } = stored
  const wallet = parseAddress(subscription.wallet) as Address
  const greeting = [
    Buffer.from('retry: 5000\n\n'),
    noticeText(deps, 'subscription', subscription.wallet, shown as Json),
  ]
  const place = await placeOf(deps, wish.after)
  if (place.gap) greeting.push(gapText(deps, place.gap.from, place.gap.to, place.gap.reason))
  const clusters = wish.clusters ?? undefined
  const giveBack = await deps.places.take(wallet)
  const opened = deps.feed.hub.open({
    ...(clusters === undefined ? {} : { topics: new Set(clusters) }),
    greeting: Buffer.concat(greeting),
    after: place.after,
    older: async (after) => (await eventsAfter(deps.database, after, pageSize, clusters)).map(toHubEvent),
    gap: (from, to) => gapText(deps, from, to, 'slow_reader'),
    farewell: (reason) => endText(deps, reason),
    endsAtMs: Date.parse(subscription.until_at),
    onClose: () => {
      giveBack?.()
      release()
      deps.streams.forget(wallet, entry)
    },
  })
  const entry = { reader: opened, tokenSha256: wish.token_sha256 }
  const release = takeSlot(slots, wallet, opened)
  // Two openings may have passed the check together: the second is told, in the stream it has already been promised.
  if (giveBack === undefined) opened.end('connections')
  deps.streams.add(wallet, entry)
  return opened.body
}

/** What one process can carry; whoever comes too late is told in the stream it has already been promised. */
function takeSlot(slots: Slots, wallet: Address, opened: OpenReader): () => void {
  try {
    return slots.take(wallet)
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    opened.end('connections')
    return () => {}
  }
}

type Place = { after: number; gap?: { from: number; to: number; reason: string } }

/** Where a reader goes on; one without a place begins with the newest bucket, so that it sees something at once. */
async function placeOf(deps: StreamDeps, wished: number | null): Promise<Place> {
  if (wished === null) return { after: await deps.feed.beforeNewestBucket() }
  const newest = Math.max(deps.feed.last(), wished > deps.feed.last() ? await newestSeq(deps.database) : 0)
  if (wished > newest) return { after: newest, gap: { from: newest + 1, to: wished, reason: 'unknown_position' } }
  const oldest = await seqBefore(deps.database, deps.clock.nowMs() - deps.settings.replayMs)
  return wished >= oldest
    ? { after: wished }
    : { after: oldest, gap: { from: wished + 1, to: oldest, reason: 'too_old' } }
}

type Entry = { reader: OpenReader; tokenSha256: string | null }

export type OpenStreams = {
  add(wallet: Address, entry: Entry): void
  forget(wallet: Address, entry: Entry): void
  /** Ends what is no longer paid for, and what a token opened that is no longer one. */
  recheck(): Promise<void>
}

/** Streams last for weeks: what opened them is looked at again while they are open. */
export function createOpenStreams(deps: Pick<StreamDeps, 'database' | 'subscriptions'>): OpenStreams {
  const open = new Map<Address, Set<Entry>>()
  return {
    add: (wallet, entry) => {
      const mine = open.get(wallet)
      if (mine) mine.add(entry)
      else open.set(wallet, new Set([entry]))
    },
    forget: (wallet, entry) => {
      const mine = open.get(wallet)
      mine?.delete(entry)
      if (mine?.size === 0) open.delete(wallet)
    },
    recheck: async () => {
      if (open.size === 0) return
      const states = await deps.subscriptions.states(deps.database, [...open.keys()])
      for (const [wallet, entries] of open) {
        const state = states.get(wallet)
        for (const { reader, tokenSha256 } of [...entries]) {
          reader.endAt(state?.untilMs ?? 0)
          if (tokenSha256 !== null && state?.tokenSha256 !== tokenSha256) reader.end('token_ended')
        }
      }
    },
  }
}
