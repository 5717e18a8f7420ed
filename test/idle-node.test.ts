import { afterAll, expect, test } from 'vitest'
import type { Devnet } from '../packages/till/src/devnet/index.ts'
import { systemClock } from '../packages/till/src/kernel/clock.ts'
import { silentLog } from '../packages/till/src/kernel/log.ts'
import { connectClient } from '../packages/till/src/store/connection.ts'
import { createFastClock } from './harness/fast-clock.ts'
import { startProductionNode } from './harness/production-node.ts'
import { openRpcProxies } from './harness/rpc-proxies.ts'
import { startChain } from './harness/start-chain.ts'

const clock = createFastClock(10)
const minuteMs = 60_000
const ports = { port: 0, clock: systemClock, log: silentLog }
const chains: [Devnet, Devnet] = [
  // Older than the first block that the token index reads: its past is indexed all the while.
  await startChain({ chainId: 8453, emptyBlocks: 53_000_000, ...ports }),
  await startChain({ chainId: 137, ...ports }),
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

/** Rows of each table: two minutes of an idle node, after a minute in which it settles. */
const countRows = async () => {
  const client = await connectClient({ url: node.databaseUrl })
  const { rows } = await client.query<{ table: string; rows: string }>(
    `select oid::regclass::text as table,
       (xpath('//rows/text()', query_to_xml('select count(*) as rows from ' || oid::regclass, false, true, '')))[1]::text as rows
     from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`,
  )
  await client.end()
  return new Map(rows.map(({ table, rows: count }) => [table, Number(count)]))
}
await clock.sleep(minuteMs)
for (const provider of [...base, ...polygon]) provider.resetCalls()
const startedMs = clock.monotonicMs()
const rowsBefore = await countRows()
await clock.sleep(2 * minuteMs)
const rowsAfter = await countRows()
const minutes = (clock.monotonicMs() - startedMs) / minuteMs
const asked = [base, polygon].map((chain) => chain.flatMap((provider) => provider.methods()))

test('an idle node with all shops asks the providers of a chain at most 60 calls a minute together', () => {
  for (const calls of asked) {
    expect(calls.length, calls.sort().join(' ')).toBeLessThanOrEqual(minutes * 60)
    // They are asked at all, and heads among it.
    expect(calls).toContain('eth_getBlockByNumber')
  }
})

test('no table of an idle node grows with every round of a job', () => {
  expect(rowsAfter.size).toBeGreaterThan(100)
  // The fee of a first transaction on chain is posted once.
  const grown = [...rowsAfter].filter(([table, rows]) => rows - (rowsBefore.get(table) ?? 0) > 10)
  expect(grown.map(([table, rows]) => `${table}: ${rowsBefore.get(table)} to ${rows}`)).toEqual([])
})
