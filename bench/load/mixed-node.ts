// A whole node with every shop and its demo data. Only settlement and the chain's word on payments are answered in process.
import type { Address } from '../../packages/protocol/src/address.ts'
import { offerSeries } from '../options/offer-series.ts'
import { cpuMicros } from '../process/commands.ts'
import { addCredit, serveNode } from '../sides/serve-node.ts'

const env = {
  MATRIX: '{"demo":"small"}',
  BASE_RPC_URLS: process.env['BASE_RPC_URLS'] ?? '',
  POLYGON_RPC_URLS: process.env['POLYGON_RPC_URLS'] ?? '',
}

await serveNode({ env }, ({ database, databaseCpuMicros }) => ({
  /** After a collection, when asked for one: what lies about uncollected is no growth. */
  usage: (collect?: boolean) => {
    if (collect) globalThis.gc?.()
    const { rss, heapUsed, external } = process.memoryUsage()
    return { cpu: cpuMicros(), database: databaseCpuMicros(), rss, heap: heapUsed + external }
  },
  pages: async () => {
    const { rows } = await database.query<{ url: string; title: string }>(
      `select p.url, t.title from crawl_page p join source s on s.domain = p.domain
       join page_version t on (t.domain, t.url, t.text_sha256) = (p.domain, p.url, p.text_sha256)
       where s.state = 'proven' and p.problem is null and length(t.title) > 8 order by p.url limit 20`,
    )
    return rows
  },
  series: () => offerSeries(database),
  credit: (wallets: readonly Address[]) => addCredit(database, wallets, 1_000_000_000_000n),
  /** State of each payment, by its nonce; one that was never claimed has none. */
  payments: async (nonces: readonly string[]) => {
    const { rows } = await database.query<{ nonce: string; state: string }>(
      `select '0x' || encode(payment_key, 'hex') as nonce, state from payment where payment_key = any($1::bytea[])`,
      [nonces.map((nonce) => Buffer.from(nonce.slice(2), 'hex'))],
    )
    return rows
  },
}))
