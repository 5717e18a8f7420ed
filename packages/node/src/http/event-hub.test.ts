import { systemClock } from '@assay/till/kernel/clock'
import { expect, test } from 'vitest'
import { createEventHub, type HubEvent, type HubReader } from './event-hub.ts'
import type { PulledBody } from './event-reader.ts'

const event = (seq: number, topic: string | null = null): HubEvent => ({ seq, topic, bytes: Buffer.from(`${seq};`) })
const reader = (changes: Partial<HubReader> = {}): HubReader => ({
  greeting: Buffer.from('hello;'),
  after: 0,
  older: async () => [],
  gap: (from, to) => Buffer.from(`gap ${from}-${to};`),
  closingEvent: (reason) => Buffer.from(`bye ${reason};`),
  endsAtMs: Number.MAX_SAFE_INTEGER,
  ...changes,
})
const hubOf = (options: { bufferMax?: number; heartbeatMs?: number; pollMs?: number } = {}) =>
  createEventHub({ clock: systemClock, bufferMax: 100, ...options })

/** Reads as a client does; `text` is all that came so far. */
function readAll(body: AsyncIterable<Uint8Array>) {
  const read = { text: '', done: false }
  void (async () => {
    for await (const bytes of body) read.text += Buffer.from(bytes).toString()
    read.done = true
  })()
  return read
}

test('a reader gets the greeting, what it missed and what comes, each once and in order', async () => {
  const hub = hubOf()
  const stored = [1, 2, 3, 4, 5].map((seq) => event(seq))
  const read = readAll(
    hub.open(reader({ after: 2, older: async (after) => stored.filter(({ seq }) => seq > after).slice(0, 2) })).body,
  )
  // Published while it still reads what is stored: sent once all the same.
  await hub.publish([event(4), event(5)])
  await expect.poll(() => read.text).toBe('hello;3;4;5;')
  await hub.publish([event(6)])
  await hub.publish([event(7), event(8)])
  await expect.poll(() => read.text).toBe('hello;3;4;5;6;7;8;')
  await hub.stop()
  await expect.poll(() => read).toEqual({ text: 'hello;3;4;5;6;7;8;bye stopping;', done: true })
})

test('a filter leaves out other topics, never what has none', async () => {
  const hub = hubOf()
  const read = readAll(hub.open(reader({ topics: new Set(['a', 'c']) })).body)
  await expect.poll(() => read.text).toBe('hello;')
  await hub.publish([event(1, 'a'), event(2, 'b'), event(3, null)])
  await hub.publish([event(4, 'b')])
  await hub.publish([event(5, 'c')])
  await expect.poll(() => read.text).toBe('hello;1;3;5;')
  await hub.stop()
})

test('a slow reader is notified of what was left out, and costs no more than the buffer', async () => {
  const hub = hubOf({ bufferMax: 3 })
  const body = hub.open(reader()).body[Symbol.asyncIterator]()
  const next = async () => Buffer.from((await body.next()).value ?? []).toString()
  expect(await next()).toBe('hello;')
  const first = body.next()
  await hub.publish([event(1)])
  expect(Buffer.from((await first).value).toString()).toBe('1;')
  for (let seq = 2; seq <= 9; seq += 1) await hub.publish([event(seq)])
  expect(await next()).toBe('gap 2-6;7;8;9;')
  await hub.stop()
})

test('heartbeats are sent while nothing happens, a stream ends after its hour, and a reader that disconnects is removed', async () => {
  const hub = hubOf({ heartbeatMs: 20, pollMs: 10 })
  let closed = 0
  const onClose = () => {
    closed += 1
  }
  const ending = hub.open(reader({ onClose }))
  const read = readAll(ending.body)
  await expect.poll(() => read.text).toContain(': still here')
  ending.endAt(systemClock.nowMs() - 1)
  await expect.poll(() => read.done).toBe(true)
  expect(read.text.endsWith('bye expired;')).toBe(true)
  const leaving = hub.open(reader({ onClose })).body[Symbol.asyncIterator]()
  await leaving.next()
  const waiting = leaving.next()
  await leaving.return?.()
  expect(await waiting).toEqual({ done: true, value: undefined })
  expect(closed).toBe(2)
  expect(hub.size()).toBe(0)
  await hub.stop()
})

test('all readers with the same request get the same bytes', async () => {
  const hub = hubOf()
  const bodies = [reader(), reader(), reader({ topics: new Set(['a']) }), reader({ topics: new Set(['a']) })].map(
    (one) => hub.open(one).body[Symbol.asyncIterator](),
  )
  for (const body of bodies) await body.next()
  const waiting = bodies.map((body) => body.next())
  await new Promise(setImmediate)
  await hub.publish([event(1, 'a'), event(2, 'b')])
  const [one, two, three, four] = (await Promise.all(waiting)).map(({ value }) => value as Buffer)
  expect(one).toBe(two)
  expect(three).toBe(four)
  await hub.stop()
})

/** Reads as the writer of responses does: one piece after the other, without a promise in between. */
function pullAll(body: AsyncIterable<Uint8Array>) {
  const read = { text: '', done: false, failed: '' }
  const { pull } = body as PulledBody
  const fail = (error: unknown) => {
    read.failed = String(error)
  }
  const take = (step: IteratorResult<Uint8Array>) => {
    if (step.done) read.done = true
    else {
      read.text += Buffer.from(step.value).toString()
      pull(take, fail)
    }
  }
  pull(take, fail)
  return read
}

test('the closing event is sent once to a reader that pulls, waiting or not', async () => {
  const hub = hubOf()
  let closed = 0
  const onClose = () => {
    closed += 1
  }
  const waiting = pullAll(hub.open(reader({ onClose })).body)
  await hub.publish([event(1)])
  await expect.poll(() => waiting.text).toBe('hello;1;')
  const early = hub.open(reader({ onClose }))
  early.end('revoked')
  const received = pullAll(early.body)
  await hub.stop()
  await expect
    .poll(() => [waiting, received])
    .toEqual([
      { text: 'hello;1;bye stopping;', done: true, failed: '' },
      { text: 'hello;bye revoked;', done: true, failed: '' },
    ])
  expect([closed, hub.size()]).toEqual([2, 0])
})

test('a reader that breaks is closed, and the others go on', async () => {
  const hub = hubOf()
  const breaks = hub.open(reader()).body as PulledBody
  const never = () => {}
  const broken = () => {
    throw new Error('broken')
  }
  breaks.pull(() => breaks.pull(() => breaks.pull(broken, never), never), never)
  const whole = pullAll(hub.open(reader()).body)
  await expect.poll(() => whole.text).toBe('hello;')
  for (const seq of [1, 2, 3]) await hub.publish([event(seq)])
  expect([whole.text, hub.size()]).toEqual(['hello;1;2;3;', 1])
  await hub.stop()
})

test('of buckets that are sent together, what a reader has from the store is not sent again', async () => {
  const hub = hubOf()
  const read = pullAll(hub.open(reader({ older: async (after) => [event(1), event(2)].slice(after) })).body)
  await expect.poll(() => read.text).toBe('hello;1;2;')
  await hub.publish([event(1), event(2), event(3)])
  await hub.publish([event(4)])
  expect(read.text).toBe('hello;1;2;3;4;')
  await hub.stop()
})

test('an error after a reader received a piece later is reported to that reader', async () => {
  const hub = hubOf()
  const body = hub.open(reader()).body as PulledBody
  const failed = await new Promise<unknown>((resolve) => {
    body.pull(() => {
      throw new Error('broken')
    }, resolve)
  })
  expect(String(failed)).toContain('broken')
  await hub.stop()
})
