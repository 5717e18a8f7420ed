import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Devnet, startDevnet } from '../packages/till/src/devnet/index.ts'
import { systemClock } from '../packages/till/src/kernel/clock.ts'
import { silentLog } from '../packages/till/src/kernel/log.ts'
import { createFastClock } from './harness/fast-clock.ts'
import { type ProductionNode, startProductionNode } from './harness/production-node.ts'
import { openRpcProxies, type RpcProxies } from './harness/rpc-proxies.ts'

const clock = createFastClock(10)
const minuteMs = 60_000
let chains: [Devnet, Devnet]
let providers: RpcProxies
let node: ProductionNode
beforeAll(async () => {
  const ports = { port: 0, clock: systemClock, log: silentLog }
  chains = [await startDevnet({ chainId: 8453, ...ports }), await startDevnet({ chainId: 137, ...ports })]
  providers = await openRpcProxies(...chains)
  node = await startProductionNode(chains, { env: providers.env, ownShops: 'all', clock })
})
afterAll(async () => {
  await node?.stop()
  await providers?.close()
  await Promise.all(chains.map((chain) => chain.stop()))
})

test('an idle node with all shops asks the providers of a chain at most 60 calls a minute together', async () => {
  await clock.sleep(minuteMs)
  for (const provider of [...providers.base, ...providers.polygon]) provider.forget()
  await clock.sleep(2 * minuteMs)
  for (const chain of [providers.base, providers.polygon]) {
    const calls = chain.flatMap((provider) => provider.methods())
    expect(calls.length, calls.sort().join(' ')).toBeLessThanOrEqual(2 * 60)
    // They are asked at all, and heads among it.
    expect(calls).toContain('eth_getBlockByNumber')
  }
})
