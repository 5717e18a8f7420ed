/** Events that go out together: encoded once, the same bytes for every reader with the same request. */
export type Chunk = { bytes: Buffer; first: number; last: number; count: number; events: readonly HubEvent[] }

/** An event as every reader gets it. */
export type HubEvent = { seq: number; topic: string | null; bytes: Buffer }

export type HubReader = {
  /** Only these topics, beside events without one; default: all. */
  topics?: ReadonlySet<string>
  /** Sent before anything else. */
  greeting: Buffer
  /** The last event it has seen: what came later is read from `older`, oldest first, until that gives nothing. */
  after: number
  older(after: number): Promise<readonly HubEvent[]>
  /** Events `from` to `to` were left out. */
  gap(from: number, to: number): Buffer
  /** Says why it is over; the last thing sent. */
  closingEvent(reason: string): Buffer
  endsAtMs: number
  onClose?(): void
}

export type Step = IteratorResult<Uint8Array>

/**
 * A body that can be read without a promise per piece: the callback is called once, at once when a piece is there. Meant
 * for bodies of which thousands are open at the same time.
 */
export type PulledBody = AsyncIterable<Uint8Array> & {
  pull(give: (step: Step) => void, fail: (error: unknown) => void): void
}

export function isPulled(body: unknown): body is PulledBody {
  return typeof (body as Partial<PulledBody>).pull === 'function'
}

export type Reader = PulledBody & {
  topics: ReadonlySet<string> | undefined
  topicsKey: string
  endsAtMs: number
  offer(chunk: Chunk | undefined): void
  beat(bytes: Buffer): void
  end(reason: string): void
}

const done: Step = { done: true, value: undefined }

/** One open stream: what it missed from the store, then what is offered, never more in memory than its buffer. */
export function createReader(given: HubReader, bufferMax: number, leave: () => void): Reader {
  const backlog = createBacklog(given, bufferMax)
  let greeted = false
  let closing: Buffer | undefined
  let over = false
  let waiting: ((step: Step) => void) | undefined

  const give = (step: Step) => {
    const resolve = waiting
    waiting = undefined
    resolve?.(step)
  }
  const close = () => {
    if (over) return
    over = true
    leave()
    given.onClose?.()
    give(done)
  }
  const next = async (): Promise<Step> => {
    if (over) return done
    if (!greeted) {
      greeted = true
      return { done: false, value: given.greeting }
    }
    const ready = (backlog.replaying() && !closing && (await backlog.replay())) || backlog.take()
    if (ready) return { done: false, value: ready }
    if (closing) {
      close()
      return { done: false, value: closing }
    }
    if (over) return done
    return new Promise((resolve) => {
      waiting = resolve
    })
  }
  const pull: Reader['pull'] = (callback, fail) => {
    const ready = greeted && !over && !closing && !backlog.replaying()
    if (!ready) return void next().then(callback).catch(fail)
    const value = backlog.take()
    if (value) callback({ done: false, value })
    else waiting = callback
  }
  return {
    pull,
    topics: given.topics,
    topicsKey: given.topics === undefined ? '' : [...given.topics].sort().join(' '),
    endsAtMs: given.endsAtMs,
    offer: (chunk) => {
      if (!chunk || over || closing) return
      if (waiting && backlog.isPresent(chunk)) return give({ done: false, value: chunk.bytes })
      if (!backlog.add(chunk) || !waiting) return
      const value = backlog.take()
      if (value) give({ done: false, value })
    },
    beat: (value) => give({ done: false, value }),
    end: (reason) => {
      if (over || closing) return
      closing = given.closingEvent(reason)
      const resolve = waiting
      if (!resolve) return
      waiting = undefined
      // Closed first: a consumer asks for the next piece while it receives this one, and would receive it twice.
      close()
      resolve({ done: false, value: closing })
    },
    [Symbol.asyncIterator]: () => ({ next, return: async () => endAfter(close) }),
  }
}

function endAfter(close: () => void): Step {
  close()
  return done
}

const bytesOfPage = new WeakMap<readonly HubEvent[], Buffer>()

/** Readers that are given the same page share its bytes. */
function bytesOf(events: readonly HubEvent[]): Buffer {
  const known = bytesOfPage.get(events)
  if (known) return known
  const bytes = Buffer.concat(events.map((event) => event.bytes))
  bytesOfPage.set(events, bytes)
  return bytes
}

/** What a reader has not received yet. */
function createBacklog(given: HubReader, bufferMax: number) {
  let queue: Chunk[] = []
  let queued = 0
  let position = given.after
  let replaying = true
  let gap: { from: number; to: number } | undefined
  return {
    replaying: () => replaying,
    /** Nothing precedes this chunk, so it can go out as it is; then it counts as sent. */
    isPresent: (chunk: Chunk): boolean => {
      if (replaying || gap || queue.length > 0 || chunk.first <= position) return false
      position = chunk.last
      return true
    },
    /** False for what the reader has already. */
    add: (chunk: Chunk): boolean => {
      if (chunk.last <= position) return false
      queue.push(chunk)
      queued += chunk.count
      while (queued > bufferMax && queue.length > 1) {
        const dropped = queue.shift() as Chunk
        queued -= dropped.count
        gap = { from: gap?.from ?? dropped.first, to: dropped.last }
      }
      return true
    },
    /** The next page of what is stored; undefined once the present is reached. */
    replay: async (): Promise<Buffer | undefined> => {
      for (;;) {
        const events = await given.older(position)
        const last = events.at(-1)
        if (!last) break
        position = last.seq
        const { topics } = given
        const wanted = topics ? events.filter(({ topic }) => topic === null || topics.has(topic)) : events
        if (wanted.length > 0) return bytesOf(wanted)
      }
      replaying = false
      // What was left out of the queue meanwhile has just been read.
      if (gap && gap.to <= position) gap = undefined
      return undefined
    },
    /** All that waits, or undefined. */
    take: (): Buffer | undefined => {
      const parts: Buffer[] = []
      if (gap) {
        parts.push(given.gap(gap.from, gap.to))
        position = gap.to
        gap = undefined
      }
      for (const chunk of queue) {
        if (chunk.last <= position) continue
        parts.push(chunk.first > position ? chunk.bytes : bytesAfter(chunk, position))
        position = chunk.last
      }
      queue = []
      queued = 0
      return parts.length <= 1 ? parts[0] : Buffer.concat(parts)
    },
  }
}

/** A part of it was read from the store: two buckets may be sent together, of which one was stored already. */
function bytesAfter({ events }: Chunk, position: number): Buffer {
  return Buffer.concat(events.filter(({ seq }) => seq > position).map(({ bytes }) => bytes))
}
