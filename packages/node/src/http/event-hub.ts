import type { Clock } from '@assay/till/kernel/clock'
import { type Chunk, createReader, type HubEvent, type HubReader, type Reader } from './event-reader.ts'

export type { HubEvent, HubReader } from './event-reader.ts'

export type OpenReader = {
  body: AsyncIterable<Uint8Array>
  endAt(ms: number): void
  end(reason: string): void
}

export type EventHub = {
  publish(events: readonly HubEvent[]): Promise<void>
  open(reader: HubReader): OpenReader
  size(): number
  stop(): Promise<void>
}

export type HubOptions = {
  clock: Clock
  /** Events kept for a reader that is behind. */
  bufferMax: number
  heartbeatMs?: number
  /** How often ends are checked. */
  pollMs?: number
}

const heartbeat = Buffer.from(': still here\n\n')
const sliceSize = 500

/** One event to many open streams: bounded memory per reader, and other requests get their turn in between. */
export function createEventHub(options: HubOptions): EventHub {
  const { clock, bufferMax, heartbeatMs = 15_000, pollMs = 1_000 } = options
  const readers = new Set<Reader>()
  const stopping = new AbortController()
  let publishing: Promise<void> = Promise.resolve()

  const deliver = async (events: readonly HubEvent[]) => {
    const whole = chunkOf(events)
    if (!whole) return
    const byTopics = new Map<string, Chunk | undefined>()
    let turn = 0
    for (const reader of [...readers]) {
      const chunk = reader.topics === undefined ? whole : filtered(byTopics, events, reader)
      unlessBroken(reader, () => reader.offer(chunk))
      turn += 1
      if (turn % sliceSize === 0) await new Promise(setImmediate)
    }
  }

  const look = async () => {
    let beatAtMs = clock.monotonicMs() + heartbeatMs
    while (!stopping.signal.aborted) {
      await clock.sleep(pollMs, stopping.signal).catch(() => {})
      const nowMs = clock.nowMs()
      for (const reader of readers) if (reader.endsAtMs <= nowMs) unlessBroken(reader, () => reader.end('expired'))
      if (clock.monotonicMs() < beatAtMs) continue
      beatAtMs = clock.monotonicMs() + heartbeatMs
      for (const reader of readers) unlessBroken(reader, () => reader.beat(heartbeat))
    }
  }
  const looking = look()

  return {
    publish: (events) => {
      publishing = publishing.then(() => deliver(events))
      return publishing
    },
    open: (given) => {
      const reader = createReader(given, bufferMax, () => readers.delete(reader))
      readers.add(reader)
      if (stopping.signal.aborted) reader.end('stopping')
      return { body: reader, endAt: (ms) => (reader.endsAtMs = ms), end: reader.end }
    },
    size: () => readers.size,
    stop: async () => {
      stopping.abort(new Error('the streams end'))
      for (const reader of readers) unlessBroken(reader, () => reader.end('stopping'))
      await looking
    },
  }
}

/** One that cannot be written to any more is let go: it is no reason to keep anything from the others. */
function unlessBroken(reader: Reader, tell: () => void): void {
  try {
    tell()
  } catch {
    void reader[Symbol.asyncIterator]().return?.()
  }
}

function chunkOf(events: readonly HubEvent[]): Chunk | undefined {
  const [first] = events
  const last = events.at(-1)
  if (!first || !last) return undefined
  const bytes = events.length === 1 ? first.bytes : Buffer.concat(events.map((event) => event.bytes))
  return { bytes, first: first.seq, last: last.seq, count: events.length, events }
}

/** Readers with the same request share the bytes too. */
function filtered(
  known: Map<string, Chunk | undefined>,
  events: readonly HubEvent[],
  { topics, topicsKey }: Reader,
): Chunk | undefined {
  if (!known.has(topicsKey))
    known.set(topicsKey, chunkOf(events.filter(({ topic }) => topic === null || topics?.has(topic))))
  return known.get(topicsKey)
}
