import { expect, test } from 'vitest'
import { type Clock, systemClock } from '../kernel/clock.ts'
import { ChainUnreadable, createChain, createRpc, knownNetworks, type RpcEndpoint } from './index.ts'

const hex = (number: number) => `0x${number.toString(16)}`
const block = (number: number) => ({ number: hex(number), hash: hex(number * 7), timestamp: hex(number * 2) })

/** An endpoint whose newest and final blocks are set; blocks by number are the same everywhere. */
const endpoint = (name: string, newest: number, final: number): RpcEndpoint => ({
  name,
  send: async (calls) =>
    calls.map(({ params: [tag] }) => {
      if (tag === 'latest') return block(newest)
      if (tag === 'finalized') return block(final)
      return Number(tag) <= 120 ? block(Number(tag)) : null
    }),
})
const silent: RpcEndpoint = { name: 'silent', send: () => Promise.reject(new Error('no answer')) }

function chainOn(endpoints: readonly RpcEndpoint[]) {
  const [network] = knownNetworks
  if (!network) throw new Error('no network')
  return createChain({
    network,
    rpc: createRpc(endpoints, { clock: systemClock }),
    clock: systemClock,
    checkContractSignature: async () => 'invalid',
  })
}

test('one endpoint alone cannot call a block final, nor show one from the future', async () => {
  const honest = [endpoint('one', 120, 100), endpoint('two', 119, 99)]
  const liar = endpoint('liar', 9_000, 9_000)
  for (const endpoints of [
    [liar, ...honest],
    [...honest, liar],
  ]) {
    expect((await chainOn(endpoints).finalizedBlock()).number).toBe(100n)
    // A lower bound: two that are a block apart need no third.
    expect([119n, 120n]).toContain((await chainOn(endpoints).head()).number)
  }
  // It calls final what is there and is not: still nobody confirms it.
  expect((await chainOn([endpoint('hasty', 120, 120), ...honest]).finalizedBlock()).number).toBe(100n)
})

test('an endpoint that lags or is silent does not hold the others back, and one alone is not believed', async () => {
  const honest = [endpoint('one', 120, 100), endpoint('two', 120, 100)]
  expect((await chainOn([endpoint('late', 40, 20), ...honest]).finalizedBlock()).number).toBe(100n)
  expect((await chainOn([silent, ...honest]).finalizedBlock()).number).toBe(100n)
  await expect(chainOn([silent, silent, endpoint('one', 120, 100)]).finalizedBlock()).rejects.toThrow(ChainUnreadable)
  expect((await chainOn([endpoint('only', 120, 100)]).finalizedBlock()).number).toBe(100n)
})

test('work that nobody waits for shares a final block for longer, and what is read for others serves it too', async () => {
  let [nowMs, newest, reads] = [0, 100, 0]
  const clock: Clock = { ...systemClock, monotonicMs: () => nowMs }
  const only: RpcEndpoint = {
    name: 'only',
    send: async (calls) => {
      reads += 1
      return calls.map(() => block(newest))
    },
  }
  const [network] = knownNetworks
  if (!network) throw new Error('no network')
  const chain = createChain({
    ...{ network, clock, rpc: createRpc([only], { clock }) },
    ...{ finalAgeMsMax: 15_000, patientAgeMsMax: 60_000 },
    checkContractSignature: async () => 'invalid',
  })
  const seen = async (how?: 'patient') => Number((await chain.finalizedBlock(how)).number)
  expect(await seen()).toBe(100)
  ;[nowMs, newest] = [59_000, 150]
  expect([await seen('patient'), reads]).toEqual([100, 1])
  expect([await seen(), await seen('patient'), reads]).toEqual([150, 150, 2])
  ;[nowMs, newest] = [120_000, 200]
  expect([await seen('patient'), reads]).toEqual([200, 3])
})
