import { connectClient } from '../../packages/till/src/store/connection.ts'
import { startTestServer, testServerVariable } from '../../packages/till/src/store/testing.ts'
import { compareWork, type Sizes } from '../../test/harness/history/compare-work.ts'
import { unexplainedOf } from '../../test/harness/history/unanswered-routes.ts'
import type { Verdict } from './verdict.ts'

const shortPast: Sizes = { sales: 10_000, wallets: 1_000 }
/** Below this many sales the server keeps its files in memory where it can. */
const onDiskFrom = 200_000

/** What all jobs and all routes of a node read with a short past and with a long one, in blocks. */
export async function readWithHistory(longPast: Sizes, say: (text: string) => void): Promise<Verdict> {
  const server = await startTestServer({ durable: longPast.sales >= onDiskFrom })
  process.env[testServerVariable] = server.url
  const startedMs = performance.now()
  let filled = ''
  try {
    const { grown, counted, jobs, routes, outcomes } = await compareWork({
      ...{ sizes: [shortPast, longPast] as const, say },
      onFilled: async (url) => {
        const minutes = (performance.now() - startedMs) / 60_000
        filled = `${(await bytesOf(url)) / 1e9} GB in ${minutes.toFixed(1)} minutes`
        say(`  ${filled}`)
      },
    })
    const [small, large] = [shortPast, longPast].map(({ sales }) => sales.toLocaleString('en-US'))
    return {
      name: `what is read with ${small} and with ${large} sales, ${longPast.wallets.toLocaleString('en-US')} wallets`,
      asked: 'no more than twice as many blocks',
      measured: `${jobs} jobs and ${routes} routes; filled with ${filled}`,
      faults: [...grown, ...unexplainedOf(outcomes)],
      notes: Object.entries(counted).map(
        ([name, blocks]) => `${name}: ${blocks.join(' and ')} blocks, ${outcomes[name] ?? ''}`,
      ),
    }
  } finally {
    await server.stop()
  }
}

async function bytesOf(url: string): Promise<number> {
  const client = await connectClient({ url })
  try {
    const { rows } = await client.query<{ bytes: bigint }>('select pg_database_size(current_database()) as bytes')
    return Number(rows[0]?.bytes)
  } finally {
    await client.end()
  }
}
