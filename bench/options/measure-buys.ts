import { measureSales } from '../load/measure-sales.ts'
import { startChild } from '../process/child.ts'

/** Purchases per second of one process, end to end over HTTP and fsynced, with the settlement answered at once. */
export async function measureBuys(home: string, count: number) {
  const server = await startChild('options/side.ts', { ASSAY_HOME: home })
  try {
    const symbols = await server.ask<string[]>('symbols')
    const sales = await measureSales(server, {
      path: '/v1/options/buy',
      connections: 192,
      payers: 800,
      warmUp: 3_000,
      count,
      bodyOf: (index) => ({ symbol: symbols[index % symbols.length] }),
    })
    const books = await server.ask<{ open: number; locked_micro: string }>('books')
    return { count, ...books, required_per_second: 500, ...sales }
  } finally {
    await server.stop()
  }
}
