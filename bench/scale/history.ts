import { connectClient } from '../../packages/till/src/store/connection.ts'
import { startTestServer, testServerVariable } from '../../packages/till/src/store/testing.ts'
import { compareWork, fillOnce, type Sizes, verifiedMax } from '../../test/harness/history/compare-work.ts'
import { unexplainedOf } from '../../test/harness/history/unanswered-routes.ts'
import type { Verdict } from './verdict.ts'

const shortPast: Sizes = { sales: 10_000, wallets: 1_000 }
/** Below this many sales the server keeps its files in memory where it can. */
const onDiskFrom = 200_000
/** Thrown away at the end: what is written is written once, and its log is never read. */
const forManyRows = { shared_buffers: '1GB', wal_level: 'minimal', max_wal_senders: '0', max_wal_size: '8GB' }
/** Ten million of them are 45 GB. */
const bytesMax = 4_500

/** What all jobs and all routes of a node read with a short past, a longer one and a long one, in blocks. */
export const readWithHistory = (longPast: Sizes, say: (text: string) => void): Promise<Verdict> =>
  onServer(longPast, async () => {
    let filled = ''
    const startedMs = performance.now()
    const { grown, faults, counted, jobs, routes, outcomes } = await compareWork({
      ...{ sizes: [shortPast, longPast] as const, say },
      onFilled: async (url) => {
        const tables = await bytesByTable(url)
        filled = filledText(tables, startedMs)
        for (const table of tables.slice(0, 12)) say(`  ${sizeOf(table, longPast.sales)}`)
        say(`  ${filled}`)
      },
    })
    const [small, large] = [shortPast, longPast].map(({ sales }) => sales.toLocaleString('en-US'))
    return {
      name: `what is read with ${small} and with ${large} sales, ${longPast.wallets.toLocaleString('en-US')} wallets`,
      asked: 'nothing that grows with the past, beyond what a page or a turn takes at most',
      measured: `${jobs} jobs and ${routes} routes; ${filled}${longPast.sales > verifiedMax ? '; its books were not verified' : ''}`,
      faults: [...grown, ...faults, ...unexplainedOf(outcomes)],
      notes: Object.entries(counted).map(
        ([name, blocks]) => `${name}: ${blocks.join(', ')} blocks, ${outcomes[name] ?? ''}`,
      ),
    }
  })

/** How large a long past is that was written at once, by table. */
export const sizeOfHistory = (longPast: Sizes, say: (text: string) => void): Promise<Verdict> =>
  onServer(longPast, async () => {
    const startedMs = performance.now()
    const tables = await fillOnce({ ...longPast, say }, bytesByTable)
    const bytes = totalOf(tables) / longPast.sales
    return {
      name: `${longPast.sales.toLocaleString('en-US')} sales written at once`,
      asked: `no more than ${bytesMax} bytes a sale`,
      measured: `${Math.round(bytes)} bytes a sale; ${filledText(tables, startedMs)}`,
      faults: bytes > bytesMax ? [`${Math.round(bytes)} bytes a sale`] : [],
      notes: tables.filter((table) => table.bytes / longPast.sales >= 10).map((table) => sizeOf(table, longPast.sales)),
    }
  })

async function onServer(past: Sizes, work: () => Promise<Verdict>): Promise<Verdict> {
  const server = await startTestServer({ onDisk: past.sales >= onDiskFrom, settings: forManyRows })
  process.env[testServerVariable] = server.url
  try {
    return await work()
  } finally {
    await server.stop()
  }
}

const totalOf = (tables: readonly TableBytes[]) => tables.reduce((sum, { bytes }) => sum + bytes, 0)
const filledText = (tables: readonly TableBytes[], startedMs: number) =>
  `filled with ${(totalOf(tables) / 1e9).toFixed(2)} GB in ${((performance.now() - startedMs) / 60_000).toFixed(1)} minutes`

type TableBytes = { name: string; bytes: number; rows: number; indexes: Record<string, number> }

const sizeOf = ({ name, bytes, rows, indexes }: TableBytes, sales: number) => {
  const each = (value: number) => Math.round(value / sales)
  const listed = Object.entries(indexes).map(([index, of]) => `${index} ${each(of)}`)
  return `${name}: ${each(bytes)} bytes a sale, rows ${each(rows)}, ${listed.join(', ')}`
}

/** With their indexes, the largest first; those of all partitions together. */
async function bytesByTable(url: string): Promise<TableBytes[]> {
  const client = await connectClient({ url })
  try {
    const { rows } = await client.query<{ name: string; index: string | null; bytes: bigint }>(
      `select regexp_replace(t.relname, '_([0-9]{8}|rest)$', '') as name,
         regexp_replace(x.relname, '_([0-9]{8}|rest)_', '_') as index, sum(pg_relation_size(x.oid))::bigint as bytes
       from pg_class t join pg_index i on i.indrelid = t.oid join pg_class x on x.oid = i.indexrelid
       where t.relnamespace = 'public'::regnamespace group by 1, 2
       union all
       select regexp_replace(relname, '_([0-9]{8}|rest)$', ''), null, sum(pg_table_size(oid))::bigint from pg_class
       where relnamespace = 'public'::regnamespace and relkind = 'r' group by 1`,
    )
    const tables = new Map<string, TableBytes>()
    for (const { name, index, bytes } of rows) {
      const table = tables.get(name) ?? { name, bytes: 0, rows: 0, indexes: {} }
      table.bytes += Number(bytes)
      if (index === null) table.rows += Number(bytes)
      else table.indexes[index] = Number(bytes)
      tables.set(name, table)
    }
    return [...tables.values()].sort((a, b) => b.bytes - a.bytes)
  } finally {
    await client.end()
  }
}
