import type { Hex } from '@assay/protocol/bytes'
import { expect, test } from 'vitest'
import { type Clock, systemClock } from '../kernel/clock.ts'
import { useFolder } from '../kernel/use-folder.fixture.ts'
import {
  authorization,
  send,
  signAuthorization,
  signSettlerTransaction,
  startTestChain,
  transferCall,
} from './test-chain.fixture.ts'

const blockTime = async (devnet: Awaited<ReturnType<typeof startTestChain>>) => {
  const block = (await devnet.request('eth_getBlockByNumber', ['latest', false])) as { timestamp: Hex }
  return Number(block.timestamp)
}

test('after 60 blocks of payments chain time is within 2 seconds of the clock', async () => {
  const devnet = await startTestChain()
  for (let nonce = 0; nonce < 60; nonce += 1) {
    const message = authorization()
    const data = transferCall(message, await signAuthorization(devnet, message))
    await send(devnet, await signSettlerTransaction(devnet, { nonce, to: devnet.usdc, data }))
  }
  expect(devnet.control.head().number).toBeGreaterThanOrEqual(60)
  const askedAt = systemClock.nowMs() / 1000
  const chainTime = await blockTime(devnet)
  const answeredAt = systemClock.nowMs() / 1000
  expect(chainTime).toBeGreaterThan(askedAt - 2)
  expect(chainTime).toBeLessThan(answeredAt + 2)
})

function movableClock(startMs: number): Clock & { move(ms: number): void } {
  let now = startMs
  return {
    nowMs: () => now,
    monotonicMs: () => now,
    sleep: async () => {},
    move: (ms) => {
      now += ms
    },
  }
}

test('an idle chain catches up with the clock when somebody looks, and makes no blocks otherwise', async () => {
  const clock = movableClock(1_800_000_000_000)
  const devnet = await startTestChain({ clock })
  clock.move(3_600_000)
  expect(devnet.control.head().number).toBe(1)
  expect(await blockTime(devnet)).toBe(1_800_003_600)
  clock.move(1_000)
  expect(await devnet.request('eth_blockNumber')).toBe('0x2')
  const timestampCode = '0x4260005260206000f3'
  await devnet.request('hardhat_setCode', [`0x${'55'.repeat(20)}`, timestampCode])
  clock.move(60_000)
  expect(Number(await devnet.request('eth_call', [{ to: `0x${'55'.repeat(20)}` }, 'latest']))).toBe(1_800_003_661)
})

test('block times never go back: not when the clock does, not over a restart', async () => {
  const folder = useFolder('devnet-time')
  const clock = movableClock(1_800_000_000_000)
  const first = await startTestChain({ clock, folder })
  clock.move(100_000)
  await send(first, await signSettlerTransaction(first, { nonce: 0 }))
  await first.stop()
  clock.move(-50_000)
  const second = await startTestChain({ clock, folder })
  await send(second, await signSettlerTransaction(second, { nonce: 1 }))
  expect(await blockTime(second)).toBe(1_800_000_100)
  clock.move(60_000)
  await send(second, await signSettlerTransaction(second, { nonce: 2 }))
  expect(await blockTime(second)).toBe(1_800_000_110)
})

test('tests can move chain time ahead of the clock', async () => {
  const clock = movableClock(1_800_000_000_000)
  const devnet = await startTestChain({ clock })
  devnet.control.advanceTime(500)
  await devnet.control.mine()
  expect(await blockTime(devnet)).toBe(1_800_000_500)
  await devnet.request('evm_setNextBlockTimestamp', [1_800_009_000])
  await devnet.request('evm_mine')
  expect(await blockTime(devnet)).toBe(1_800_009_000)
  await expect(devnet.request('evm_setNextBlockTimestamp', [5])).rejects.toThrow('time never goes back')
})
