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
  await startDevnet({ chainId: 8453, ...ports }),
  await startDevnet({ chainId: 137, ...ports }),
]
const providers = await openRpcProxies(...chains)
const node = await startProductionNode(chains, { env: providers.env, ownShops: 'all', clock })
afterAll(async () => {
  await node?.stop()
  await providers?.close()
  await Promise.all(chains.map((chain) => chain.stop()))
})

test('an idle node with all shops asks the providers of a chain at most 60 calls a minute together', async () => {
  await clock.sleep(minuteMs)
  for (const provider of [...providers.base, ...providers.polygon]) provider.resetCalls()
  await clock.sleep(2 * minuteMs)
  for (const chain of [providers.base, providers.polygon]) {
    const calls = chain.flatMap((provider) => provider.methods())
    expect(calls.length, calls.sort().join(' ')).toBeLessThanOrEqual(2 * 60)
    // They are asked at all, and heads among it.
    expect(calls).toContain('eth_getBlockByNumber')
  }
})
