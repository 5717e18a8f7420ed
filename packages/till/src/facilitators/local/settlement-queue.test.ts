import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { knownNetworks, type Network } from '../../chain/index.ts'
import { testPayer } from '../../chain/wallet/wallet.fixture.ts'
import { systemClock } from '../../kernel/clock.ts'
import { paymentOf } from './local.fixture.ts'
import { createSettlementQueue, defaultQueueLimits, type QueuedPayment, type QueueOptions } from './settlement-queue.ts'

const network = knownNetworks[0] as Network
const payment = (name: string) => paymentOf(network, testPayer(name))
const alive = () => new AbortController().signal

function queueOf(overrides: Partial<QueueOptions> = {}) {
  const groups: QueuedPayment[][] = []
  const finished: (() => void)[] = []
  const queue = createSettlementQueue({
    clock: systemClock,
    limits: { ...defaultQueueLimits, gatherMs: 30 },
    concurrency: 2,
    settleGroup: (group) => {
      groups.push(group)
      return new Promise((resolve) => {
        finished.push(() => {
          for (const item of group) item.finish({ status: 'submitted', transaction: '0x01', feeMicro: 0n })
          resolve()
        })
      })
    },
    ...overrides,
  })
  return { queue, sizes: () => groups.map((group) => group.length), groups, finishNext: () => finished.shift()?.() }
}

describe('the settlement queue', () => {
  it('sends a lone payment at once', async () => {
    const { queue, sizes, finishNext } = queueOf()
    const settled = queue.submit(payment('a'), alive())
    await expect.poll(sizes).toEqual([1])
    finishNext()
    expect(await settled).toMatchObject({ status: 'submitted' })
    expect(queue.size()).toBe(0)
  })

  it('puts what arrives together into one group, up to the limit', async () => {
    const { queue, sizes } = queueOf({ limits: { ...defaultQueueLimits, batchMax: 3 } })
    for (const name of ['a', 'b', 'c', 'd']) void queue.submit(payment(name), alive())
    await expect.poll(sizes).toEqual([3])
    expect(queue.size()).toBe(4)
  })

  it('gathers while a group is on its way, but not for ever', async () => {
    const { queue, sizes } = queueOf()
    void queue.submit(payment('a'), alive())
    await expect.poll(sizes).toEqual([1])
    void queue.submit(payment('b'), alive())
    void queue.submit(payment('c'), alive())
    await expect.poll(sizes).toEqual([1, 2])
  })

  it('starts no more groups than there are places', async () => {
    const { queue, sizes, finishNext } = queueOf({ concurrency: 1, limits: { ...defaultQueueLimits, gatherMs: 0 } })
    void queue.submit(payment('a'), alive())
    await expect.poll(sizes).toEqual([1])
    void queue.submit(payment('b'), alive())
    // It is dispatched at the end of this turn, and would wait for no further payment.
    await setImmediate()
    await setImmediate()
    expect(sizes()).toEqual([1])
    finishNext()
    await expect.poll(sizes).toEqual([1, 1])
  })

  it('lets signatures of contracts go alone', async () => {
    const { queue, groups } = queueOf({ concurrency: 9, limits: { ...defaultQueueLimits, gatherMs: 0 } })
    const contract = { ...payment('contract'), signature: `0x${'11'.repeat(80)}` as const }
    for (const one of [payment('a'), contract, payment('b')]) void queue.submit(one, alive())
    await expect.poll(() => groups.length).toBe(2)
    expect(groups.map((group) => group.map((item) => item.alone))).toEqual([[false, false], [true]])
  })

  it('answers the second copy of an authorization with unknown, never with a second success', async () => {
    const { queue, sizes, finishNext } = queueOf()
    const one = payment('a')
    const first = queue.submit(one, alive())
    expect(await queue.submit(one, alive())).toEqual({ status: 'unknown', reason: 'duplicate_settlement' })
    await expect.poll(sizes).toEqual([1])
    finishNext()
    await first
  })

  it('sends nothing for a caller who has gone already', async () => {
    const { queue, sizes } = queueOf()
    expect(await queue.submit(payment('a'), AbortSignal.abort())).toMatchObject({
      status: 'refused',
      reason: 'settlement_aborted',
    })
    expect(sizes()).toEqual([])
  })
})
