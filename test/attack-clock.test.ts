import { expect, test } from 'vitest'
import { createChain, createRpc, type Network } from '../packages/till/src/chain/index.ts'
import { knownNetworks } from '../packages/till/src/chain/network.ts'
import { createExposure } from '../packages/till/src/gate/exposure.ts'
import { createLosses, lossLimitsOf } from '../packages/till/src/gate/losses.ts'
import type { Clock } from '../packages/till/src/kernel/clock.ts'
import type { Database, Sql } from '../packages/till/src/store/database.ts'

/** The wall clock is set back by an hour while time itself goes on. */
function backwardClock() {
  let wallMs = 1_800_000_000_000
  let passedMs = 0
  const clock: Clock = { nowMs: () => wallMs, monotonicMs: () => passedMs, sleep: async () => {} }
  return {
    clock,
    setBack: () => {
      wallMs -= 3_600_000
    },
    pass: (ms: number) => {
      wallMs += ms
      passedMs += ms
    },
  }
}

test('a clock that is set back does not freeze the sum under the exposure cap', async () => {
  const time = backwardClock()
  let openMicro = 0n
  const sql = {
    query: async (text: string) => ({ rows: text.includes('as route') ? [] : [{ micro: openMicro }], rowCount: 1 }),
  } as unknown as Sql
  const sale = { payer: `0x${'1'.repeat(40)}`, amountMicro: 6n, revocable: false } as const
  const exposure = createExposure(sql, time.clock, 20n)
  expect(await exposure.admit(sale)).toBe(true)
  time.setBack()
  time.pass(2_000)
  // The six have become final meanwhile.
  expect(await exposure.admit(sale)).toBe(true)
  openMicro = 19n
  time.pass(2_000)
  expect(await exposure.admit(sale)).toBe(false)
})

test('a clock that is set back does not freeze the limits of loss', async () => {
  const time = backwardClock()
  const payer = `0x${'11'.repeat(20)}` as const
  let rows: { scope: string; key: string }[] = []
  const database = { query: async () => ({ rows, rowCount: rows.length }) } as unknown as Database
  const losses = createLosses(database, time.clock, lossLimitsOf(knownNetworks))
  expect(await losses.allows(payer, 'eip155:8453', 'route')).toBe(true)
  time.setBack()
  time.pass(6_000)
  rows = [{ scope: 'payer', key: payer }]
  expect(await losses.allows(payer, 'eip155:8453', 'route')).toBe(false)
})

test('a clock that is set back does not freeze the head of a chain, on which finality and recovery depend', async () => {
  const time = backwardClock()
  let number = 1
  const rpc = createRpc(
    [
      {
        name: 'test',
        send: async (calls) =>
          calls.map(() => ({ number: `0x${number.toString(16)}`, hash: `0x${'00'.repeat(32)}`, timestamp: '0x1' })),
      },
    ],
    { clock: time.clock },
  )
  const network = { usdc: { address: `0x${'22'.repeat(20)}` } } as unknown as Network
  const chain = createChain({ network, rpc, clock: time.clock, checkContractSignature: async () => 'invalid' })
  expect((await chain.finalizedBlock()).number).toBe(1n)
  time.setBack()
  time.pass(1_000)
  number = 2
  expect((await chain.finalizedBlock()).number).toBe(2n)
  expect((await chain.head()).number).toBe(2n)
})
