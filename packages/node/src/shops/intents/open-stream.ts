import { type Address, parseAddress } from '@assay/protocol/address'
import type { Json } from '@assay/protocol/canonical-json'
import { toRfc3339 } from '@assay/till/kernel/clock'
import { eventText, signedEvent } from '../../http/index.ts'
import { type StoredStreamSubscription, streamPath } from '../subscriptions/index.ts'
import { newestSeq, seqBefore, seqBeforeNewestBucket } from './store.ts'
import type { StreamDeps, StreamRequest } from './stream-route.ts'
import { eventId } from './tick-event.ts'

type Notice = 'subscription' | 'gap' | 'end'

/** Events about the stream itself: they have no place in the log and no id to come back to. */
function noticeText(deps: StreamDeps, kind: Notice, subject: string, data: Json): Buffer {
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
        : 'These events are no longer available. The stream continues with the next one.',
  })

const endText = (deps: StreamDeps, reason: string) =>
  noticeText(deps, 'end', 'all', { reason, renew: streamPath, subscriptions: '/v1/subscriptions?product=stream' })

/** The stream that follows a purchase or an opening: first who it is for, then what was missed, then what comes. */
export async function openStream(
  deps: StreamDeps,
  stored: StoredStreamSubscription & { streamRequest: StreamRequest },
  shown: Record<string, unknown>,
): Promise<AsyncIterable<Uint8Array>> {
  const { streamRequest, subscription } = stored
  const greeting = [
    Buffer.from('retry: 5000\n\n'),
    noticeText(deps, 'subscription', subscription.wallet, shown as Json),
  ]
  const wallet = parseAddress(subscription.wallet) as Address
  const pauses = await deps.subscriptions.pausesOf(wallet)
  // What was published in a pause is not paid for; what is older than the last one is in the files.
  const paidFromMs = Math.max(Date.parse(subscription.from_at), ...pauses.map(({ endedMs }) => endedMs))
  const place = await placeOf(deps, streamRequest.after, paidFromMs)
  if (place.gap) greeting.push(gapText(deps, place.gap.from, place.gap.to, place.gap.reason))
  const clusters = streamRequest.clusters ?? undefined
  const seat = await deps.streams.take(wallet)
  const { body, endAt, end } = deps.feed.hub.open({
    ...(clusters === undefined ? {} : { topics: new Set(clusters) }),
    greeting: Buffer.concat(greeting),
    after: place.after,
    older: (after) => deps.feed.older(after, clusters),
    gap: (from, to) => gapText(deps, from, to, 'slow_reader'),
    closingEvent: (reason) => endText(deps, reason),
    endsAtMs: Date.parse(subscription.until_at),
    onClose: seat.close,
  })
  seat.watch({ tokenSha256: streamRequest.token_sha256, endAt, end })
  return body
}

type Place = { after: number; gap?: { from: number; to: number; reason: string } }

/**
 * Where a reader goes on; one without a place begins with the newest bucket, so that it sees something at once. The bucket
 * that was the newest when the subscription began belongs to it; what is older was not paid for.
 */
async function placeOf(deps: StreamDeps, wished: number | null, fromMs: number): Promise<Place> {
  const present = await deps.feed.beforeNewestBucket()
  if (wished === null) return { after: present }
  const newest = Math.max(deps.feed.last(), wished > deps.feed.last() ? await newestSeq(deps.database) : 0)
  if (wished > newest) return { after: newest, gap: { from: newest + 1, to: wished, reason: 'unknown_position' } }
  const kept = await seqBefore(deps.database, deps.clock.nowMs() - deps.settings.replayMs)
  const paidFor = await seqBeforeNewestBucket(deps.database, fromMs)
  const oldest = Math.max(kept, paidFor)
  const reason = paidFor > kept ? 'before_subscription' : 'too_old'
  return wished >= oldest ? { after: wished } : { after: oldest, gap: { from: wished + 1, to: oldest, reason } }
}
