import { expect, test } from 'vitest'
import { createHotAnswers, hotBody } from './hot-answers.ts'
import { createLimiter } from './limits.ts'
import { createLoad, defaultLoad, sheddingLoad } from './load.ts'

const at = (nowMs: () => number) => ({ nowMs, monotonicMs: nowMs, sleep: async () => {} })

test('a bucket empties by cost and refills with time', () => {
  let now = 0
  const limiter = createLimiter(
    at(() => now),
    { perSecond: 2, burst: 4, badPaymentsPerMinute: 60, callersMax: 10 },
  )
  const bucket = limiter.bucketOf('192.0.2.1')
  expect([limiter.spend(bucket, 3), limiter.spend(bucket, 3)]).toEqual([true, false])
  expect(limiter.secondsUntil(bucket, 3)).toBe(1)
  expect(limiter.header(bucket)).toBe('"caller";r=1;t=2')
  expect(limiter.policyHeader).toBe('"caller";q=4;w=2')
  now = 1_000
  expect(limiter.spend(limiter.bucketOf('192.0.2.1'), 3)).toBe(true)
})

test('bad payments are forgiven with time', () => {
  let now = 0
  const limiter = createLimiter(
    at(() => now),
    { perSecond: 1, burst: 1, badPaymentsPerMinute: 6, callersMax: 10 },
  )
  const bucket = limiter.bucketOf('192.0.2.1')
  for (let i = 0; i < 6; i += 1) limiter.countBadPayment(bucket)
  expect(limiter.maySendPayment(bucket)).toBe(false)
  now = 20_000
  expect(limiter.maySendPayment(limiter.bucketOf('192.0.2.1'))).toBe(true)
})

test('memory is bounded however many callers come, and idle callers are evicted first', () => {
  let now = 0
  const limiter = createLimiter(
    at(() => now),
    { perSecond: 1, burst: 5, badPaymentsPerMinute: 6, callersMax: 100 },
  )
  for (let i = 0; i < 50; i += 1) limiter.bucketOf(`192.0.2.${i}`)
  now = 120_000
  const busy = limiter.bucketOf('198.51.100.1')
  limiter.spend(busy, 5)
  for (let i = 0; i < 60; i += 1) limiter.bucketOf(`203.0.113.${i}`)
  expect(limiter.size()).toBeLessThanOrEqual(100)
  expect(limiter.spend(limiter.bucketOf('198.51.100.1'), 1)).toBe(false)
  for (let i = 0; i < 10_000; i += 1) limiter.bucketOf(`10.${i >> 8}.${i & 255}.1`)
  expect(limiter.size()).toBeLessThanOrEqual(100)
})

test('shared answers are bounded in bytes, and the least recently used goes first', () => {
  const answers = createHotAnswers(8_000)
  const answer = (usedAtMs: number) => ({
    status: 200,
    headers: ['A', 'b'],
    changing: 0,
    atMs: usedAtMs,
    body: 'x'.repeat(2_000),
    cost: 1,
    paid: false,
    expiresAtMs: 10_000,
    usedAtMs,
    tally: { routeId: 'r', status: 200, count: 0, unlogged: 0 },
  })
  for (const key of ['a', 'b', 'c']) answers.put(key, answer(0))
  expect(answers.get('a', 500)).toBeDefined()
  answers.put('d', answer(500))
  expect([answers.get('a', 500), answers.get('b', 500)].map((found) => found !== undefined)).toEqual([true, false])
  expect(answers.bytes()).toBeLessThanOrEqual(8_000)
  answers.put('huge', { ...answer(0), body: 'x'.repeat(9_000) })
  expect(answers.get('huge', 0)).toBeUndefined()
  expect(answers.get('a', 10_000)).toBeUndefined()
  answers.clear()
  expect(answers.bytes()).toBe(0)
})

test('a shared body is text only where its bytes are ASCII', () => {
  expect(hotBody(Buffer.from('plain'))).toBe('plain')
  expect(hotBody('plain')).toBe('plain')
  expect(hotBody('grün')).toEqual(Buffer.from('grün'))
})

/** A node whose clock is fixed until a test sets how late its timers fire. */
function lateNode(probe?: () => Promise<unknown>) {
  let now = 0
  const waiting: { dueMs: number; wake(): void }[] = []
  const clock = {
    nowMs: () => now,
    monotonicMs: () => now,
    sleep: (ms: number) => new Promise<void>((wake) => waiting.push({ dueMs: now + ms, wake })),
  }
  const load = createLoad({ ...defaultLoad, ...sheddingLoad }, { clock, ...(probe ? { probe } : {}) })
  let inside = 0
  const open = (count: number, paying = true) => {
    for (let each = 0; each < count; each += 1) {
      try {
        load.enter(paying)
        inside += 1
      } catch {}
    }
  }
  const answer = (count: number) => {
    for (let each = 0; each < count && inside > 0; each += 1, inside -= 1) load.leave(true)
  }
  // The process comes to its timers only after so long.
  const stall = async (ms: number) => {
    isLetIn(true)
    now += ms
    for (const { wake } of waiting.splice(0)) wake()
    for (let turn = 0; turn < 10; turn += 1) await Promise.resolve()
  }
  const isLetIn = (paying: boolean) => {
    try {
      load.enter(paying)
      load.leave(paying)
      return true
    } catch {
      return false
    }
  }
  return { open, answer, stall, isLetIn, inside: () => inside }
}

/** Seconds in which the node is late all the time, so many come and at most so many can be answered. */
async function lateSeconds(
  node: ReturnType<typeof lateNode>,
  { seconds, come, answered }: { seconds: number; come: number; answered: number },
): Promise<void> {
  for (let look = 0; look < seconds * 10; look += 1) {
    node.answer(answered / 10)
    node.open(come / 10)
    await node.stall(100)
  }
}

test('however many come to a busy node, those it lets in wait two seconds at most', async () => {
  const node = lateNode()
  await lateSeconds(node, { seconds: 10, come: 400, answered: 100 })
  expect(node.inside()).toBeGreaterThan(150)
  expect(node.inside()).toBeLessThan(250)
  expect([node.isLetIn(false), node.isLetIn(true)]).toEqual([false, false])
})

test('while those who pay wait for a second, those who do not are asked to retry later, and a single stall refuses nobody', async () => {
  const node = lateNode()
  node.open(150)
  await node.stall(900)
  expect(node.isLetIn(false)).toBe(true)
  await lateSeconds(node, { seconds: 2, come: 100, answered: 100 })
  expect([node.isLetIn(false), node.isLetIn(true)]).toEqual([false, true])
  // With few requests open, being late is no reason to refuse one more.
  node.answer(130)
  expect([node.isLetIn(false), node.isLetIn(true)]).toEqual([true, true])
})

test('answers that take long while the node is not late wait for somebody else, and nobody is refused', async () => {
  const node = lateNode()
  node.open(500)
  for (let look = 0; look < 100; look += 1) await node.stall(20)
  expect([node.isLetIn(false), node.isLetIn(true)]).toEqual([true, true])
})

test('however many come to pay nothing, the few who pay and wait for a chain keep nobody out who pays', async () => {
  const node = lateNode()
  node.open(100, false)
  node.open(20)
  for (let look = 0; look < 7; look += 1) await node.stall(900)
  expect([node.isLetIn(false), node.isLetIn(true)]).toEqual([false, true])
})

test('what piles up in a short stall is given time to go away, unless it is an overload', async () => {
  const backlog = lateNode()
  backlog.open(150)
  for (let look = 0; look < 10; look += 1) await backlog.stall(100)
  expect([backlog.isLetIn(false), backlog.isLetIn(true)]).toEqual([true, true])
  for (let look = 0; look < 10; look += 1) await backlog.stall(100)
  expect([backlog.isLetIn(false), backlog.isLetIn(true)]).toEqual([false, false])
  const overloaded = lateNode()
  overloaded.open(300)
  for (let look = 0; look < 10; look += 1) await overloaded.stall(100)
  expect([overloaded.isLetIn(false), overloaded.isLetIn(true)]).toEqual([false, false])
})

test('a node that has caught up lets everybody in again', async () => {
  const node = lateNode()
  await lateSeconds(node, { seconds: 10, come: 400, answered: 100 })
  expect([node.isLetIn(false), node.isLetIn(true)]).toEqual([false, false])
  for (let look = 0; look < 4; look += 1) await node.stall(20)
  expect([node.isLetIn(false), node.isLetIn(true)]).toEqual([true, true])
})

test('a database that does not answer at all is seen while it does not', async () => {
  let answer = () => {}
  const { open, stall, isLetIn } = lateNode(() => new Promise<void>((resolve) => (answer = resolve)))
  open(100)
  await stall(20)
  await stall(1_900)
  expect([isLetIn(false), isLetIn(true)]).toEqual([true, true])
  await stall(300)
  expect([isLetIn(false), isLetIn(true)]).toEqual([false, false])
  answer()
  await stall(0)
  expect([isLetIn(false), isLetIn(true)]).toEqual([true, true])
})
