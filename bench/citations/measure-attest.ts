import { Agent, request } from 'node:http'
import { type BenchTerms, benchPayer, paymentPayload, signPayment } from '../load/sign-payments.ts'
import { startChild } from '../process/child.ts'

const connections = 64
const payers = 500
/** Until the code is compiled and its statements are planned. */
const warmUp = 600
const path = '/v1/cite/attest'

type Prepared = { body: string; payment: string }

/** Citations per second of one process, its pages read before and its settlement answered at once. */
export async function measureAttest(home: string, count: number) {
  const server = await startChild('citations/side.ts', { ASSAY_HOME: home })
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  try {
    const port = await server.ask<number>('port')
    const pages = await server.ask<string[]>('pages')
    const terms = await readTerms(port, pages[0] ?? '')
    const calls = (first: number, length: number) =>
      Array.from({ length }, (_, n) => prepare(terms, first + n, pages[(first + n) % pages.length] ?? ''))
    const warm = calls(0, warmUp)
    const measured = calls(warmUp, count)
    await run(agent, port, warm)
    const before = { cpu: await server.ask<number>('cpu'), database: await server.ask<number>('database_cpu') }
    const startedAt = performance.now()
    const { statuses, latencies } = await run(agent, port, measured)
    const seconds = (performance.now() - startedAt) / 1000
    const after = { cpu: await server.ask<number>('cpu'), database: await server.ask<number>('database_cpu') }
    latencies.sort((a, b) => a - b)
    const books = await server.ask<{ attested: number; logged: number }>('books')
    return {
      count,
      pages: pages.length,
      statuses,
      ...books,
      per_second: Math.round(count / seconds),
      required_per_second: 300,
      p50_ms: Math.round(latencies[Math.floor(latencies.length / 2)] ?? 0),
      p99_ms: Math.round(latencies[Math.floor(latencies.length * 0.99)] ?? 0),
      node_cpu_micros: Math.round((after.cpu - before.cpu) / count),
      database_cpu_micros: Math.round((after.database - before.database) / count),
    }
  } finally {
    agent.destroy()
    await server.stop()
  }
}

async function readTerms(port: number, page: string): Promise<BenchTerms> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ source_url: page, agent_wallet: benchPayer(0).address }),
  })
  const required = JSON.parse(Buffer.from(response.headers.get('payment-required') ?? '', 'base64').toString()) as {
    resource: { url: string }
    accepts: BenchTerms['accepted'][]
  }
  return { resourceUrl: required.resource.url, accepted: required.accepts[0] as BenchTerms['accepted'] }
}

function prepare(terms: BenchTerms, index: number, page: string): Prepared {
  const payer = benchPayer(index % payers)
  return {
    body: JSON.stringify({ source_url: page, agent_wallet: payer.address }),
    payment: Buffer.from(JSON.stringify(paymentPayload(terms, signPayment(payer, terms)))).toString('base64'),
  }
}

async function run(agent: Agent, port: number, calls: readonly Prepared[]) {
  const statuses: Record<string, number> = {}
  const latencies: number[] = []
  let next = 0
  const worker = async () => {
    for (let call = calls[next++]; call !== undefined; call = calls[next++]) {
      const startedAt = performance.now()
      const status = await send(agent, port, call)
      latencies.push(performance.now() - startedAt)
      statuses[status] = (statuses[status] ?? 0) + 1
    }
  }
  await Promise.all(Array.from({ length: connections }, worker))
  return { statuses, latencies }
}

function send(agent: Agent, port: number, { body, payment }: Prepared): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        agent,
        host: '127.0.0.1',
        port,
        path,
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          'payment-signature': payment,
        },
      },
      (response) => {
        response.resume()
        response.on('end', () => resolve(response.statusCode ?? 0))
      },
    )
    sent.on('error', reject)
    sent.end(body)
  })
}
