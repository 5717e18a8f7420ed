import { afterAll, expect, test } from 'vitest'
import { type Devnet, startDevnet } from '../packages/till/src/devnet/index.ts'
import { systemClock } from '../packages/till/src/kernel/clock.ts'
import { silentLog } from '../packages/till/src/kernel/log.ts'
import { createFastClock } from './harness/fast-clock.ts'
import { startProductionNode } from './harness/production-node.ts'
import { openRpcProxies } from './harness/rpc-proxies.ts'

const clock = createFastClock(10)
const minuteMs = 60_000
const ports = { port: 0, clock: systemClock, log: silentLog }
const chains: [Devnet, Devnet] = [
  // Older than the first block that the token index reads: its past is indexed all the while.
  await startDevnet({ chainId: 8453, emptyBlocks: 53_000_000, ...ports }),
  await startDevnet({ chainId: 137, ...ports }),
]
const providers = await openRpcProxies(...chains)
for (const provider of providers.base) provider.limitLogs(10_000, 400)
// As many as must agree: a third one is asked beside them when these are late, which a busy machine decides.
const [base, polygon] = [providers.base.slice(0, 2), providers.polygon.slice(0, 2)]
const urls = (two: typeof base) => two.map(({ url }) => url).join(',')
const env = { BASE_RPC_URLS: urls(base), POLYGON_RPC_URLS: urls(polygon) }
const node = await startProductionNode(chains, { env, ownShops: 'all', clock })
afterAll(async () => {
  await node?.stop()
  await providers?.close()
  await Promise.all(chains.map((chain) => chain.stop()))
})

test('an idle node with all shops asks the providers of a chain at most 60 calls a minute together', async () => {
  await clock.sleep(minuteMs)
  for (const provider of [...base, ...polygon]) provider.resetCalls()
  const startedMs = clock.monotonicMs()
  await clock.sleep(2 * minuteMs)
  const minutes = (clock.monotonicMs() - startedMs) / minuteMs
  for (const chain of [base, polygon]) {
    const calls = chain.flatMap((provider) => provider.methods())
    expect(calls.length, calls.sort().join(' ')).toBeLessThanOrEqual(minutes * 60)
    // They are asked at all, and heads among it.
    expect(calls).toContain('eth_getBlockByNumber')
  }
})
