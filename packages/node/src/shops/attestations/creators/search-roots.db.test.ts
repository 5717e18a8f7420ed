import type { Address } from '@assay/protocol/address'
import { playedRpc } from '@assay/till/chain/played-rpc.fixture'
import { useTestDatabase } from '@assay/till/store/use-database.fixture'
import { expect, test } from 'vitest'
import { anchoredHeads } from '../../../tlog/anchored-heads.ts'
import { readAdvances } from './adopt-root.ts'
import type { CreatorChain, CreatorDeps } from './deps.ts'

const contract = `0x${'ab'.repeat(20)}` as Address
const db = await useTestDatabase()

/** A chain without any log, which remembers what it was asked for and breaks off at a block. */
function emptyChain() {
  const state = { asked: [] as [number, number][], failsFrom: Number.POSITIVE_INFINITY }
  const logs = async (_method: string, [filter]: readonly unknown[]) => {
    const { fromBlock, toBlock } = filter as { fromBlock: string; toBlock: string }
    if (Number(toBlock) >= state.failsFrom) throw new Error('no endpoint answers')
    state.asked.push([Number(fromBlock), Number(toBlock)])
    return []
  }
  return { state, rpc: playedRpc(logs) }
}

const widthMax = (asked: readonly [number, number][]) => Math.max(...asked.map(([from, to]) => to - from + 1))

test('the search for a root goes on where it broke off, in steps, and asks the last one again', async () => {
  const { state, rpc } = emptyChain()
  const place = {
    rpc,
    network: { caip2: 'eip155:8453' },
    contract,
  } as unknown as CreatorChain
  const search = {
    known: { epoch: 3n, totalMicro: 0n, blockNumber: 1_000n },
    open: undefined,
    final: { number: 64_000n, hash: '0x' as const, timestamp: 0 } as never,
    untilEpoch: 4n,
  }
  const run = () => readAdvances({ database: db.database } as CreatorDeps, place, search)
  state.failsFrom = 35_000
  await expect(run()).rejects.toThrow('no endpoint answers')
  expect(state.asked[0]?.[0]).toBe(1_000)
  state.asked = []
  state.failsFrom = Number.POSITIVE_INFINITY
  await expect(run()).rejects.toThrow('do not show every root')
  expect(state.asked[0]?.[0]).toBe(31_000)
  expect(widthMax(state.asked)).toBeLessThanOrEqual(10_000)
  state.asked = []
  await expect(run()).rejects.toThrow('do not show every root')
  expect(state.asked).toEqual([[61_000, 64_000]])
  // What was searched for another epoch says nothing about this one.
  state.asked = []
  await expect(
    readAdvances({ database: db.database } as CreatorDeps, place, {
      ...search,
      known: { ...search.known, epoch: 2n },
      untilEpoch: 3n,
    }),
  ).rejects.toThrow('do not show every root')
  expect(state.asked[0]?.[0]).toBe(1_000)
})

test('the search for anchored heads goes on where it broke off', async () => {
  const { state, rpc } = emptyChain()
  const chain = { network: { caip2: 'eip155:137' }, finalizedBlock: async () => ({ number: 300_000n }) } as never
  const source = anchoredHeads({ database: db.database, chain, rpc, origin: 'log.test' })
  state.failsFrom = 155_000
  await expect(source.outsideHeads(true)).rejects.toThrow('no endpoint answers')
  expect(state.asked[0]?.[0]).toBe(100_000)
  state.asked = []
  state.failsFrom = Number.POSITIVE_INFINITY
  expect(await source.outsideHeads(true)).toEqual([])
  expect(state.asked[0]?.[0]).toBe(150_000)
  expect(widthMax(state.asked)).toBeLessThanOrEqual(10_000)
  state.asked = []
  expect(await source.outsideHeads(true)).toEqual([])
  expect(state.asked).toEqual([])
})
