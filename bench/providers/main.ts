// npx tsx bench/providers/main.ts [--purchases 15]: what one faulty RPC provider of three costs a purchase.

import type { PrivateKeyAccount } from 'viem/accounts'
import type { RpcFault } from '../../packages/till/src/chain/rpc-proxy.fixture.ts'
import { buy, echoPath, openTill, type TillFixture } from '../../test/harness/till-fixture.ts'
import { median } from '../percentiles.ts'
import { runBench } from '../run-bench.ts'

/** How long a healthy provider needs for a call. */
const roundTripMs = 30
const well: RpcFault = { kind: 'slow', ms: roundTripMs }
const faults: readonly RpcFault[] = [
  { kind: 'hangs' },
  { kind: 'slow', ms: 3_000 },
  { kind: 'lies' },
  { kind: 'rate_limited' },
  { kind: 'wrong_chain' },
  { kind: 'down' },
]
const names: Record<RpcFault['kind'], string> = {
  none: 'is well',
  hangs: 'hangs',
  slow: 'takes 3 s for each call',
  lies: 'lies',
  rate_limited: 'answers 429',
  wrong_chain: 'answers for another chain',
  down: 'is down',
}

await runBench(async ({ openServer, option, note }) => {
  await openServer()
  const purchases = option('purchases', 15)
  const till = await openTill({ ownShops: 'till', providers: true })
  try {
    const buyer = await till.newBuyer(100_000_000n)
    for (const provider of till.providers) provider.setFault(well)
    await timesOf(till, buyer, 5)
    const healthyMs = median(await timesOf(till, buyer, purchases))
    const rows = []
    for (const [index, fault] of faults.entries()) {
      const faulty = till.providers[index % till.providers.length]
      faulty?.setFault(fault)
      const times = await timesOf(till, buyer, purchases)
      faulty?.setFault(well)
      // Well again for all, so that the next fault is the only one.
      await timesOf(till, buyer, purchases)
      rows.push({ fault: fault.kind, medianMs: median(times), worstMs: Math.max(...times) })
    }
    note('figures', { purchases, healthy_median_ms: healthyMs, rows })
    return rows.map(({ fault, medianMs, worstMs }) => ({
      figure: `a purchase while one provider of three ${names[fault]}`,
      asked: '2 times one with three that are well',
      measured: `${ratio(medianMs, healthyMs)} times, the slowest of ${purchases} ${ratio(worstMs, healthyMs)} times`,
      reached: medianMs <= 2 * healthyMs,
    }))
  } finally {
    await till.close()
  }
})

async function timesOf(till: TillFixture, buyer: PrivateKeyAccount, purchases: number): Promise<number[]> {
  const times: number[] = []
  for (let purchase = 0; purchase < purchases; purchase += 1) {
    const startedMs = performance.now()
    const response = await buy(buyer, `${till.node.url}${echoPath}?message=${performance.now()}`)
    if (response.status !== 200) throw new Error(`a purchase was answered with ${response.status}`)
    await response.arrayBuffer()
    times.push(performance.now() - startedMs)
  }
  return times
}

function ratio(ms: number, healthyMs: number): string {
  return (ms / healthyMs).toFixed(2)
}
