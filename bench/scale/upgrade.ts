import { setTimeout as sleep } from 'node:timers/promises'
import { migrationOf, readMigrations, tillMigrations } from '../../packages/till/src/store/migrate.ts'
import { prepareDatabase } from '../../packages/till/src/store/open-store.ts'
import type { Sizes } from '../../test/harness/history/compare-work.ts'
import { fillHistory } from '../../test/harness/history/fill-history.ts'
import { checkPurchases, keepBuying, type Purchase } from './buyers.ts'
import { openCaller } from './call.ts'
import type { Cluster } from './cluster.ts'
import { createNodeProcess } from './node-process.ts'
import { readTerms } from './terms.ts'
import type { Verdict } from './verdict.ts'

/** What a version after the baseline may do to the busiest tables: add columns, a table, an index. */
const expansions = [
  `alter table payment add column later_note text, add column later_size int not null default 0;
   alter table ledger_entry add column later_tag text;
   alter table job_lease add column later_host text;
   create table later (id bigint primary key);`,
  'create index concurrently payment_later on payment (later_size) where later_size > 0;',
]

/** What was sold before, on a chain of the cluster. */
const fillPast = (cluster: Cluster, past: Sizes) =>
  fillHistory({
    ...{ databaseUrl: cluster.databaseUrl, ...past, network: 'eip155:8453', nowMs: Date.now() },
    ...{ heavy: `0x${'7'.repeat(40)}`, payTo: `0x${'b'.repeat(40)}` },
  })

/** Two processes go on selling while a newer version migrates the database under them, as its first start does. */
export async function migrateUnderLoad(
  cluster: Cluster,
  payers: number,
  seconds: number,
  past?: Sizes,
): Promise<Verdict> {
  const nodes = await Promise.all([createNodeProcess(cluster), createNodeProcess(cluster)])
  const caller = openCaller(64)
  let stopBuying: (() => Promise<Purchase[]>) | undefined
  try {
    for (const node of nodes) await node.start()
    if (past) await fillPast(cluster, past)
    const terms = await readTerms(caller, nodes[0]?.port ?? 0)
    stopBuying = keepBuying({ caller, terms, nodes, payers })
    await sleep((seconds / 2) * 1000)
    const newer = expansions.map((text, place) => migrationOf('till', `900${place + 1}_later.sql`, text))
    const startedMs = performance.now()
    await prepareDatabase({ url: cluster.databaseUrl }, [...(await readMigrations([tillMigrations])), ...newer])
    const ms = Math.round(performance.now() - startedMs)
    await sleep((seconds / 2) * 1000)
    const purchases = await stopBuying()
    stopBuying = undefined
    const outcome = await checkPurchases(cluster, terms, purchases, [])
    return {
      name: 'a newer version migrates under two processes that sell',
      asked: 'no paid request lost, none refused',
      ...outcome,
      notes: [
        ...(outcome.notes ?? []),
        `the migration took ${ms} ms${past ? ` with ${past.sales.toLocaleString('en-US')} sales before it` : ''}`,
      ],
      faults: [...outcome.faults, ...purchases.filter(({ status }) => status === 402).map(({ lastWord }) => lastWord)],
    }
  } finally {
    await stopBuying?.()
    caller.close()
    await Promise.all(nodes.map((node) => node.end('SIGTERM')))
  }
}
