import { describe, expect, it } from 'vitest'
import { systemClock } from '../../kernel/clock.ts'
import { knownNetworks, type Network } from '../network.ts'
import type { Rpc } from '../rpc.ts'
import { bumpFees, costMicroOf, createFeeSource, feesAreTooHigh, feesFor } from './fees.ts'

const gwei = 1_000_000_000n
const network = (chainId: number) => knownNetworks.find((one) => one.chainId === chainId) as Network

describe('the fee a transaction offers', () => {
  it('never tips less than 30 gwei on Polygon, whatever the oracle suggests', () => {
    for (const suggestedTipWei of [0n, 1n, 24n * gwei, 30n * gwei - 1n])
      expect(feesFor(network(137), { baseFeeWei: 0n, suggestedTipWei }).maxPriorityFeePerGas).toBe(30n * gwei)
  })

  it('follows the oracle where it asks for more', () => {
    expect(feesFor(network(137), { baseFeeWei: 100n * gwei, suggestedTipWei: 45n * gwei })).toEqual({
      maxPriorityFeePerGas: 45n * gwei,
      maxFeePerGas: 245n * gwei,
    })
  })

  it('clamps on the test network of Polygon too, and hardly at all on Base', () => {
    expect(feesFor(network(80002), { baseFeeWei: 1n, suggestedTipWei: 1n }).maxPriorityFeePerGas).toBe(30n * gwei)
    expect(feesFor(network(8453), { baseFeeWei: 10n, suggestedTipWei: 2_000_000n })).toEqual({
      maxPriorityFeePerGas: 2_000_000n,
      maxFeePerGas: 2_000_020n,
    })
  })

  it('rises by an eighth for a replacement, rounded up', () => {
    const previous = { maxFeePerGas: 1_001n, maxPriorityFeePerGas: 7n }
    expect(bumpFees(network(8453), previous, { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n })).toEqual({
      maxFeePerGas: 1_127n,
      maxPriorityFeePerGas: 8n,
    })
  })
})

describe('the most that is offered', () => {
  it('a tip rose 600,000-fold: no suggestion and no replacement goes above the ceiling of the chain', () => {
    for (const chainId of [8453, 137, 84532, 80002]) {
      const { priorityFeeWeiMax, maxFeeWeiMax } = network(chainId)
      const wild = feesFor(network(chainId), { baseFeeWei: 1n, suggestedTipWei: 600_000n * gwei })
      expect(wild.maxPriorityFeePerGas).toBe(priorityFeeWeiMax)
      let offer = feesFor(network(chainId), { baseFeeWei: gwei / 100n, suggestedTipWei: 1n })
      for (let round = 0; round < 200; round += 1) {
        const next = bumpFees(network(chainId), offer, offer)
        if (!next) break
        offer = next
      }
      expect(offer.maxPriorityFeePerGas <= priorityFeeWeiMax).toBe(true)
      expect(offer.maxFeePerGas <= maxFeeWeiMax).toBe(true)
    }
  })

  it('a base fee above the ceiling is too high to send anything', () => {
    const { maxFeeWeiMax } = network(8453)
    expect(
      feesAreTooHigh(network(8453), feesFor(network(8453), { baseFeeWei: maxFeeWeiMax, suggestedTipWei: 1n })),
    ).toBe(true)
    expect(feesAreTooHigh(network(8453), feesFor(network(8453), { baseFeeWei: gwei, suggestedTipWei: 1n }))).toBe(false)
  })

  it('costs are counted in micro-USD, rounded up', () => {
    const fees = { maxFeePerGas: gwei, maxPriorityFeePerGas: 1n }
    expect(costMicroOf({ nativeUsdMax: 10_000n }, 100_000n, fees)).toBe(1_000_000n)
    expect(costMicroOf({ nativeUsdMax: 1n }, 1n, fees)).toBe(1n)
  })
})

describe('the fee source', () => {
  it('asks the chain once for many payments, and answers from memory while it refreshes', async () => {
    let reads = 0
    let nowMs = 0
    const rpc = {
      batch: async () => {
        reads += 1
        return [{ baseFeePerGas: '0xa' }, '0x1']
      },
    } as unknown as Rpc
    const source = createFeeSource(network(8453), rpc, { ...systemClock, monotonicMs: () => nowMs })
    await Promise.all(Array.from({ length: 20 }, () => source.current()))
    expect(reads).toBe(1)
    nowMs = 5_000
    await source.current()
    expect(reads).toBe(2)
  })

  it('fails rather than guess when the chain names no base fee', async () => {
    const rpc = { batch: async () => [null, '0x1'] } as unknown as Rpc
    await expect(createFeeSource(network(8453), rpc, systemClock).current()).rejects.toThrow('fees')
  })
})
