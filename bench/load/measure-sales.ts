import type { startChild } from '../process/child.ts'
import { runLoad } from './run-load.ts'
import { type BenchTerms, benchPayer, paymentPayload, signPayment } from './sign-payments.ts'

type Server = Awaited<ReturnType<typeof startChild>>

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
  const port = await server.ask<number>('port')
  const terms = await readTerms(port, plan)
  await buyAll(port, terms, plan, { first: 0, count: plan.warmUp }, async () => {})
  const spent = async () => ({
    cpu: await server.ask<number>('cpu'),
    database: await server.ask<number>('database_cpu'),
  })
  let before = { cpu: 0, database: 0 }
  const { statuses, seconds, p50Ms, p99Ms } = await buyAll(
    port,
    terms,
    plan,
    { first: plan.warmUp, count: plan.count },
    async () => {
      before = await spent()
    },
  )
  const after = await spent()
  return {
    statuses,
    per_second: Math.round(plan.count / seconds),
    p50_ms: Math.round(p50Ms),
    p99_ms: Math.round(p99Ms),
    node_cpu_micros: Math.round((after.cpu - before.cpu) / plan.count),
    database_cpu_micros: Math.round((after.database - before.database) / plan.count),
  }
}

/** Waits until it is for sale: what a bench has just put up may not be on the shelf yet. */
async function readTerms(port: number, { path, bodyOf }: SalesPlan): Promise<BenchTerms> {
  const body = JSON.stringify(bodyOf(0, benchPayer(0)))
  const url = `http://127.0.0.1:${port}${path}`
  for (let tries = 1; ; tries += 1) {
    const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    const text = await answer.text()
    const required = answer.headers.get('payment-required')
    if (required !== null) {
      const { resource, accepts } = JSON.parse(Buffer.from(required, 'base64').toString()) as {
        resource: { url: string }
        accepts: BenchTerms['accepted'][]
      }
      return { resourceUrl: resource.url, accepted: accepts[0] as BenchTerms['accepted'] }
    }
    if (tries === triesMax) throw new Error(`${path} is not for sale: ${answer.status} ${text.slice(0, 300)}`)
    await new Promise((resolve) => setTimeout(resolve, 250))
  }
}
const triesMax = 40

/** Signed before the clock runs, as payments of many wallets would arrive signed. */
async function buyAll(
  port: number,
  terms: BenchTerms,
  plan: SalesPlan,
  { first, count }: { first: number; count: number },
  ready: () => Promise<void>,
) {
  const requests = Array.from({ length: count }, (_, n) => purchase(port, terms, plan, first + n))
  await ready()
  let next = 0
  return runLoad({ port, connections: plan.connections, secondsMax: 80 }, () => requests[next++])
}

function purchase(port: number, terms: BenchTerms, { path, payers, bodyOf }: SalesPlan, index: number): Buffer {
  const payer = benchPayer(index % payers)
  const body = JSON.stringify(bodyOf(index, payer))
  const payment = Buffer.from(JSON.stringify(paymentPayload(terms, signPayment(payer, terms)))).toString('base64')
  return Buffer.from(
    `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
      `PAYMENT-SIGNATURE: ${payment}\r\n\r\n${body}`,
  )
}
