import type { Hex } from '@assay/protocol/bytes'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../kernel/clock.ts'
import { agreedLogs, createRpc, httpEndpoint, type Rpc, searchLogs } from './index.ts'
import { createLogSpan } from './log-span.ts'
import { type RpcProxy, startRpcProxy } from './rpc-proxy.fixture.ts'

const hex = (number: number) => `0x${number.toString(16)}`
const address = `0x${'22'.repeat(20)}` as const
const blocks = [3, 900, 4_100, 9_999]
const log = (block: number) => ({
  address,
  blockNumber: hex(block),
  blockHash: hex(block * 3),
  transactionHash: hex(block * 7),
  logIndex: '0x0',
  topics: [],
  data: '0x',
})

type Shape = (logs: ReturnType<typeof log>[]) => unknown
const providerOf =
  (shape: Shape = (logs) => logs) =>
  async (_method: string, params: unknown[]) => {
    const [{ fromBlock, toBlock }] = params as [{ fromBlock: string; toBlock: string }]
    return shape(blocks.filter((block) => block >= Number(fromBlock) && block <= Number(toBlock)).map(log))
  }

let proxies: RpcProxy[] = []
let rpc: Rpc
const open = async (shapes: readonly Shape[]) => {
  proxies = await Promise.all(shapes.map((shape, index) => startRpcProxy(providerOf(shape), `127.0.0.${index + 1}`)))
  rpc = createRpc(
    proxies.map(({ url }) => httpEndpoint(url)),
    { clock: systemClock },
  )
}
beforeEach(() => {
  proxies = []
})
afterEach(() => Promise.all(proxies.map((proxy) => proxy.close())))

const whole = { address, topics: [] as Hex[], fromBlock: 0n, toBlock: 10_000n }
const found = (logs: { blockNumber: string }[]) => logs.map(({ blockNumber }) => Number(blockNumber))
const searches = () => proxies.reduce((sum, proxy) => sum + proxy.methods().length, 0)

test.each([400, 413, 200])(
  'a range refused with HTTP %i and a JSON error is read in pieces, and remembered',
  async (status) => {
    const same: Shape = (logs) => logs
    await open([same, same, same])
    for (const proxy of proxies) proxy.limitLogs(500, status)
    expect(found(await agreedLogs(rpc, whole))).toEqual(blocks)
    expect(found(await searchLogs(rpc, whole))).toEqual(blocks)
    for (const proxy of proxies) proxy.resetCalls()
    // 10,001 blocks in pieces of 312 that were learned: no piece is refused any more, and none is asked twice.
    expect(found(await searchLogs(rpc, whole))).toEqual(blocks)
    expect(searches()).toBeLessThan(40)
  },
)

test('a limit that is lifted is tried again after a while', () => {
  const span = createLogSpan()
  span.refused(10_000n)
  span.refused(5_000n)
  expect(span.blocks()).toBe(2_500n)
  for (let piece = 0; piece < 16; piece += 1) span.took(span.blocks())
  expect(span.blocks()).toBe(3_126n)
  span.took(10n)
  expect(span.blocks()).toBe(3_126n)
  span.refused(1n)
  expect(span.blocks()).toBe(1n)
})

test('logs are compared by what the chain decides: other members, order and letters of a provider do not matter', async () => {
  await open([
    (logs) => logs.map((one) => ({ ...one, blockTimestamp: '0x65', removed: false })),
    (logs) =>
      [...logs]
        .reverse()
        .map((one) => ({ ...one, transactionHash: one.transactionHash.toUpperCase().replace('X', 'x') })),
  ])
  expect(found(await agreedLogs(rpc, whole)).sort((a, b) => a - b)).toEqual(blocks)
})

test('one log more or less, or another address, is no agreement', async () => {
  await open([(logs) => logs, (logs) => logs.slice(1)])
  await expect(agreedLogs(rpc, whole)).rejects.toThrow('do not agree')
  for (const proxy of proxies) await proxy.close()
  await open([(logs) => logs, (logs) => logs.map((one) => ({ ...one, address: `0x${'33'.repeat(20)}` }))])
  await expect(agreedLogs(rpc, whole)).rejects.toThrow('do not agree')
})
