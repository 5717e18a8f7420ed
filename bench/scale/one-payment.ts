import { benchPayer, signPayment } from '../load/sign-payments.ts'
import { faultsInBooks, isCharged, usdcOf } from './books.ts'
import { openCaller } from './call.ts'
import type { Cluster } from './cluster.ts'
import { createNodeProcess } from './node-process.ts'
import { paidPath, paymentHeader, readTerms } from './terms.ts'
import type { Verdict } from './verdict.ts'

/** What a second copy of a payment may be told; anything else is a fault. */
const refusals = new Set([409, 429, 503])
const payer = benchPayer(0)

/** One payment, sent many times at once to every process. */
export async function sendOnePayment(cluster: Cluster, processes: number, copies: number): Promise<Verdict> {
  const nodes = await Promise.all(Array.from({ length: processes }, () => createNodeProcess(cluster)))
  const caller = openCaller(64)
  try {
    // The first alone, for it migrates; the others join.
    await nodes[0]?.start()
    await Promise.all(nodes.slice(1).map((node) => node.start()))
    const terms = await readTerms(caller, nodes[0]?.port ?? 0)
    const signed = signPayment(payer, terms)
    const header = paymentHeader(terms, signed)
    const before = await usdcOf(cluster.base, payer.address)
    const statuses = new Map<number, number>()
    await Promise.all(
      Array.from({ length: copies }, async (_, index) => {
        const port = nodes[index % nodes.length]?.port ?? 0
        const { status } = await caller.get(port, paidPath, { 'payment-signature': header })
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }),
    )
    const spent = before - (await usdcOf(cluster.base, payer.address))
    const { rows } = await cluster.owner.query<{ state: string }>('select state from payment where payer = $1', [
      payer.address.toLowerCase(),
    ])
    const faults = [
      ...(statuses.get(200) === 1 ? [] : [`${statuses.get(200) ?? 0} copies were served`]),
      ...[...statuses].filter(([status]) => status !== 200 && !refusals.has(status)).map(([status]) => `a ${status}`),
      ...(spent === BigInt(terms.accepted.amount)
        ? []
        : [`the payer lost ${spent} instead of ${terms.accepted.amount}`]),
      ...(rows.length === 1 && rows[0]?.state === 'served' ? [] : [`rows: ${JSON.stringify(rows)}`]),
      ...((await isCharged(cluster.base, payer.address, signed.authorization.nonce)) ? [] : ['never charged']),
      ...(await faultsInBooks(cluster.owner)),
    ]
    const told = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${count} x ${status}`)
    return {
      name: `one payment, ${copies} copies over ${processes} processes`,
      asked: 'served once, charged once',
      measured: told.join(', '),
      faults,
    }
  } finally {
    caller.close()
    await Promise.all(nodes.map((node) => node.end('SIGTERM')))
  }
}
