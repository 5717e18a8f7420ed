import { Agent, request } from 'node:http'
import type { startChild } from '../process/child.ts'
import { type BenchTerms, benchPayer, paymentPayload, signPayment } from './sign-payments.ts'

type Server = Awaited<ReturnType<typeof startChild>>
type Prepared = { body: string; payment: string }

export type SalesPlan = {
  path: string
  connections: number
  payers: number
  /** Until the code is compiled and its statements are planned. */
  warmUp: number
  count: number
  /** What the n-th purchase asks for. */
  bodyOf(index: number, payer: ReturnType<typeof benchPayer>): unknown
}

/** Purchases of one paid route, many at once over HTTP, with the CPU that node and database spend on each. */
export async function measureSales(server: Server, plan: SalesPlan) {
  const agent = new Agent({ keepAlive: true, maxSockets: plan.connections })
  try {
    const port = await server.ask<number>('port')
    const terms = await readTerms(port, plan)
    const calls = (first: number, length: number) => Array.from({ length }, (_, n) => prepare(terms, plan, first + n))
    const warm = calls(0, plan.warmUp)
    const measured = calls(plan.warmUp, plan.count)
    await run(agent, port, plan, warm)
    const spent = async () => ({
      cpu: await server.ask<number>('cpu'),
      database: await server.ask<number>('database_cpu'),
    })
    const before = await spent()
    const startedAt = performance.now()
    const { statuses, latencies } = await run(agent, port, plan, measured)
    const seconds = (performance.now() - startedAt) / 1000
    const after = await spent()
    latencies.sort((x, y) => x - y)
    return {
      statuses,
      per_second: Math.round(plan.count / seconds),
      p50_ms: Math.round(latencies[Math.floor(latencies.length / 2)] ?? 0),
      p99_ms: Math.round(latencies[Math.floor(latencies.length * 0.99)] ?? 0),
      node_cpu_micros: Math.round((after.cpu - before.cpu) / plan.count),
      database_cpu_micros: Math.round((after.database - before.database) / plan.count),
    }
  } finally {
    agent.destroy()
  }
}

async function readTerms(port: number, { path, bodyOf }: SalesPlan): Promise<BenchTerms> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(bodyOf(0, benchPayer(0))),
  })
  const required = JSON.parse(Buffer.from(response.headers.get('payment-required') ?? '', 'base64').toString()) as {
    resource: { url: string }
    accepts: BenchTerms['accepted'][]
  }
  return { resourceUrl: required.resource.url, accepted: required.accepts[0] as BenchTerms['accepted'] }
}

function prepare(terms: BenchTerms, { payers, bodyOf }: SalesPlan, index: number): Prepared {
  const payer = benchPayer(index % payers)
  return {
    body: JSON.stringify(bodyOf(index, payer)),
    payment: Buffer.from(JSON.stringify(paymentPayload(terms, signPayment(payer, terms)))).toString('base64'),
  }
}

async function run(agent: Agent, port: number, { path, connections }: SalesPlan, calls: readonly Prepared[]) {
  const statuses: Record<string, number> = {}
  const latencies: number[] = []
  let next = 0
  const worker = async () => {
    for (let call = calls[next++]; call !== undefined; call = calls[next++]) {
      const startedAt = performance.now()
      const status = await send(agent, port, path, call)
      latencies.push(performance.now() - startedAt)
      statuses[status] = (statuses[status] ?? 0) + 1
    }
  }
  await Promise.all(Array.from({ length: connections }, worker))
  return { statuses, latencies }
}

function send(agent: Agent, port: number, path: string, { body, payment }: Prepared): Promise<number> {
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
