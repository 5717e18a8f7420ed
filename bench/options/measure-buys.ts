import { Agent, request } from 'node:http'
import { type BenchTerms, benchPayer, paymentPayload, signPayment } from '../load/sign-payments.ts'
import { startChild } from '../process/child.ts'

const connections = 96
const payers = 800
const path = '/v1/options/buy'

type Prepared = { body: string; payment: string }

/** Purchases per second of one process, end to end over HTTP and fsynced, with the settlement answered at once. */
export async function measureBuys(home: string, count: number) {
  const server = await startChild('options/side.ts', { ASSAY_HOME: home })
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  try {
    const port = await server.ask<number>('port')
    const symbols = await server.ask<string[]>('symbols')
    const terms = await readTerms(port, symbols[0] ?? '')
    const calls = (first: number, length: number) =>
      Array.from({ length }, (_, n) => prepare(terms, first + n, symbols[(first + n) % symbols.length] ?? ''))
    await run(agent, port, calls(0, 300))
    const measured = calls(300, count)
    const before = { cpu: await server.ask<number>('cpu'), database: await server.ask<number>('database_cpu') }
    const startedAt = performance.now()
    const { statuses, latencies } = await run(agent, port, measured)
    const seconds = (performance.now() - startedAt) / 1000
    const after = { cpu: await server.ask<number>('cpu'), database: await server.ask<number>('database_cpu') }
    latencies.sort((a, b) => a - b)
    return {
      count,
      statuses,
      ...(await server.ask<{ open: number; locked_micro: string }>('books')),
      per_second: Math.round(count / seconds),
      required_per_second: 500,
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

async function readTerms(port: number, symbol: string): Promise<BenchTerms> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ symbol }),
  })
  const required = JSON.parse(Buffer.from(response.headers.get('payment-required') ?? '', 'base64').toString()) as {
    resource: { url: string }
    accepts: BenchTerms['accepted'][]
  }
  return { resourceUrl: required.resource.url, accepted: required.accepts[0] as BenchTerms['accepted'] }
}

function prepare(terms: BenchTerms, index: number, symbol: string): Prepared {
  const payer = benchPayer(index % payers)
  return {
    body: JSON.stringify({ symbol }),
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
