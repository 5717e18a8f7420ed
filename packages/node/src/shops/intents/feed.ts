import { createEventHub, type EventHub, eventText, type HubEvent } from '../../http/index.ts'
import type { PublishedBucket } from '../ports.ts'
import type { Carrier } from './carrier.ts'
import { planInForce } from './day-plan.ts'
import type { IntentDeps } from './deps.ts'
import type { Plan } from './plan.ts'
import { createRecentPages, type RecentPages } from './recent-pages.ts'
import { readSignal, type Signal } from './signal.ts'
import { eventsAfter, type IntentEvent, lastFigureMs, newestSeq, seqBeforeNewestBucket, toPublished } from './store.ts'

export type Feed = {
  hub: EventHub
  /** The newest event this process has passed on. */
  last(): number
  /** End of the newest bucket with a published figure; undefined before the first. */
  newestFigureMs(): number | undefined
  /** What the figures of the last day were worth; undefined before the first bucket. */
  signal(): Signal | undefined
  /** How the newest day is cut. */
  plan(): Plan
  /** A page of what is stored after this event, of these clusters or of all. */
  older: RecentPages<HubEvent>
  /** Where a reader begins that wants the newest bucket and what comes. */
  beforeNewestBucket(): Promise<number>
  onPublished(listener: (buckets: readonly PublishedBucket[]) => void): () => void
  stop(): Promise<void>
}

const pageSize = 500
/** Small, for a reader that stops in the middle of it keeps one page in memory. */
const readerPage = 20
/** A carrier may fail silently; the rows are checked anyway. */
const pollMs = 10_000

export function toHubEvent({ seq, cluster, event }: IntentEvent): HubEvent {
  const name = cluster === null ? 'bucket' : 'tick'
  return { seq, topic: cluster, bytes: Buffer.from(eventText(`0-${seq}`, name, event)) }
}

/** What this process knows of the stream: each event once, in order, whatever the carrier loses or says twice. */
export async function openFeed(
  deps: Pick<IntentDeps, 'database' | 'clock' | 'log' | 'metrics' | 'settings'>,
  carrier: Carrier,
  hub: EventHub = createEventHub({ clock: deps.clock, bufferMax: deps.settings.bufferEvents }),
): Promise<Feed> {
  const listeners = new Set<(buckets: readonly PublishedBucket[]) => void>()
  const stopping = new AbortController()
  let last = await newestSeq(deps.database)
  let newestFigureMs = await lastFigureMs(deps.database)
  let signal = await readSignal(deps.database)
  let plan = await planInForce(deps.database, deps)
  let work: Promise<void> = Promise.resolve()
  let newestBucket: { last: number; before: Promise<number> } | undefined

  const passOn = async (events: readonly IntentEvent[]) => {
    const end = events.at(-1)
    if (!end) return
    last = end.seq
    deps.metrics.gauge('intent_streams', hub.size())
    signal = await readSignal(deps.database)
    plan = await planInForce(deps.database, deps)
    const cells = events.filter(({ cluster }) => cluster !== null).map(toPublished)
    const figureMs = cells.at(-1)?.endsAtMs
    if (figureMs !== undefined) newestFigureMs = Math.max(newestFigureMs ?? 0, figureMs)
    if (cells.length > 0) for (const listener of listeners) listener(cells)
    await hub.publish(events.map(toHubEvent))
  }
  const catchUp = async (brought: readonly IntentEvent[]) => {
    const fresh = brought.filter(({ seq }) => seq > last)
    if (fresh.length > 0 && fresh.every(({ seq }, index) => seq === last + 1 + index)) return passOn(fresh)
    for (;;) {
      const events = await eventsAfter(deps.database, last, pageSize)
      await passOn(events)
      if (events.length < pageSize) return
    }
  }
  const news = (brought: readonly IntentEvent[] = []) => {
    work = work
      .then(() => (stopping.signal.aborted ? undefined : catchUp(brought)))
      .catch((error: unknown) => deps.log.warn({ error: String(error) }, 'published demand could not be read'))
  }
  const look = async () => {
    while (!stopping.signal.aborted) {
      await deps.clock.sleep(pollMs, stopping.signal).catch(() => {})
      news()
    }
  }
  const looking = look()
  const unsubscribe = await carrier.follow(news)
  // What was published between the first read and the first message.
  news()
  return {
    hub,
    last: () => last,
    newestFigureMs: () => newestFigureMs,
    signal: () => signal,
    plan: () => plan,
    older: createRecentPages({ size: readerPage }, async (after, limit, clusters) =>
      (await eventsAfter(deps.database, after, limit, clusters)).map(toHubEvent),
    ),
    beforeNewestBucket: () => {
      if (newestBucket?.last !== last) newestBucket = { last, before: seqBeforeNewestBucket(deps.database) }
      return newestBucket.before
    },
    onPublished: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    stop: async () => {
      stopping.abort(new Error('the stream closes'))
      await hub.stop()
      await unsubscribe()
      await looking
      await work
    },
  }
}
