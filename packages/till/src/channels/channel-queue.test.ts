import { expect, test } from 'vitest'
import { systemClock } from '../kernel/clock.ts'
import { silentLog } from '../kernel/log.ts'
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
