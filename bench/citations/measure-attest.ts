import { measureSales } from '../load/measure-sales.ts'
import { startChild } from '../process/child.ts'

/** Citations per second of one process, its pages read before and its settlement answered at once. */
export async function measureAttest(home: string, count: number) {
  const server = await startChild('citations/side.ts', { ASSAY_HOME: home })
  try {
    const pages = await server.ask<string[]>('pages')
    const sales = await measureSales(server, {
      path: '/v1/cite/attest',
      connections: 256,
      payers: 500,
      warmUp: 3_000,
      count,
      bodyOf: (index, { address }) => ({ source_url: pages[index % pages.length], agent_wallet: address }),
    })
    const books = await server.ask<{ attested: number; logged: number }>('books')
    return { count, pages: pages.length, ...books, required_per_second: 300, ...sales }
  } finally {
    await server.stop()
  }
}
