import { setImmediate } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { type Clock, systemClock } from '../../kernel/clock.ts'
import { silentLog } from '../../kernel/log.ts'
import { onEachChain } from './channel-deps.ts'
import { createChannelQueue } from './channel-queue.ts'
import { createUnclaimed } from './unclaimed.ts'

test('old vouchers that wait keep no room from one that continues the channel', async () => {
  const queue = createChannelQueue(systemClock, { waitingMax: 2, waitMs: 10_000, graceMs: 0 })
  let end = () => {}
  const first = queue.run(
    'c',
    () => true,
    () => new Promise<void>((resolve) => (end = resolve)),
  )
  const stale = [1, 2].map(() =>
    queue.run(
      'c',
      () => false,
      async () => 'corrected',
    ),
  )
  expect(
    await queue.run(
      'c',
      () => false,
      async () => 'corrected',
    ),
  ).toBeUndefined()
  const order: string[] = []
  const fresh = queue.run(
    'c',
    () => true,
    async () => void order.push('fresh'),
  )
  for (const one of stale) void one.then(() => order.push('stale'))
  end()
  await Promise.all([first, fresh, ...stale])
  expect(order).toEqual(['fresh', 'stale', 'stale'])
  expect(queue.size()).toBe(0)
})

/** Time that passes only where a test says so. */
function createHandClock() {
  let nowMs = 0
  const timers = new Set<{ atMs: number; ring(): void }>()
  const clock: Clock = {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        const timer = { atMs: nowMs + ms, ring: resolve }
        timers.add(timer)
        signal?.addEventListener('abort', () => {
          timers.delete(timer)
          reject(signal.reason)
        })
      }),
  }
  const pass = async (ms: number): Promise<void> => {
    nowMs += ms
    for (const timer of timers) if (timer.atMs <= nowMs && timers.delete(timer)) timer.ring()
    await setImmediate()
  }
  return { clock, pass }
}

describe('calls sent side by side', () => {
  /** Three that were signed from the same base; each knows what became of it. */
  function sideBySide() {
    const { clock, pass } = createHandClock()
    const queue = createChannelQueue(clock)
    const order: string[] = []
    let charged = 0
    const send = (name: string, base: number) =>
      queue.run(
        'c',
        () => charged === base,
        async (corrected) => {
          order.push(charged === base ? `${name} served` : `${name} corrected`)
          if (charged === base) charged += 1
          else corrected()
        },
      )
    for (const name of ['a', 'b', 'c']) void send(name, 0)
    return { order, pass, send }
  }

  test('are corrected one by one: the next one as soon as the one before has come back', async () => {
    const { order, pass, send } = sideBySide()
    await pass(0)
    expect(order).toEqual(['a served', 'b corrected'])
    await send('b', 1)
    await pass(0)
    expect(order.slice(2)).toEqual(['b served', 'c corrected'])
  })

  test('wait for a client that needs time to sign again, and not for one that is gone', async () => {
    const { order, pass, send } = sideBySide()
    await pass(0)
    await pass(900)
    expect(order).toEqual(['a served', 'b corrected'])
    await send('b', 1)
    await pass(0)
    expect(order.slice(2)).toEqual(['b served', 'c corrected'])
    void send('d', 1)
    await pass(900)
    expect(order).toHaveLength(4)
    await pass(9_000)
    expect(order.slice(4)).toEqual(['d corrected'])
  })
})

test('what all channels owe is capped, and counted between two looks at the books', async () => {
  let [nowMs, owed] = [0, 60n]
  const sql = { query: async () => ({ rows: [{ micro: owed }], rowCount: 1 }) }
  const unclaimed = createUnclaimed(sql as never, { ...systemClock, monotonicMs: () => nowMs }, 100n)
  expect([await unclaimed.admits(30n), await unclaimed.admits(20n), await unclaimed.admits(10n)]).toEqual([
    true,
    false,
    true,
  ])
  owed = 0n
  expect(await unclaimed.admits(1n)).toBe(false)
  nowMs += 2_000
  expect(await unclaimed.admits(100n)).toBe(true)
})

test('a chain that fails keeps no other chain waiting, and the job is seen to fail', async () => {
  const seen: string[] = []
  const chains = new Map(['a', 'b', 'c'].map((network) => [network, {} as never]))
  const work = async (network: string) => {
    seen.push(network)
    if (network === 'a') throw new Error('unreadable')
  }
  await expect(onEachChain({ chains, log: silentLog }, work)).rejects.toThrow('unreadable')
  expect(seen).toEqual(['a', 'b', 'c'])
})
