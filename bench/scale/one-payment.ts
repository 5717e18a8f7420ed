import type { Address } from '../../packages/protocol/src/address.ts'
import { addressTopic, topics } from '../../packages/till/src/chain/usdc-abi.ts'
import { freePort } from '../../packages/till/src/store/embedded/free-port.ts'
import { faultsInBooks } from '../../test/harness/books.ts'
import type { CallCounts } from '../../test/harness/call-counters.ts'
import { tokenBalance } from '../../test/harness/token-balance.ts'
import { benchPayer, signPayment } from '../load/sign-payments.ts'
import { type Child, startChild } from '../process/child.ts'
import { type Caller, openCaller } from './call.ts'
import type { Cluster } from './cluster.ts'
import { paidPath, paymentHeader, readTerms } from './terms.ts'
import type { Verdict } from './verdict.ts'

/** How a second copy of a payment may be answered; anything else is a fault. */
const refusals = new Set([409, 429, 503])
const payer = benchPayer(0)

/** One payment, sent many times at once to every process; each counts its handlers and settlements. */
export async function sendOnePayment(cluster: Cluster, processes: number, copies: number): Promise<Verdict> {
  const nodes: Child[] = []
  const caller = openCaller(64)
  const start = async () => {
    const node = await startChild('scale/counted-process.ts', cluster.env(await freePort()))
    cluster.adopt(() => node.stop())
    nodes.push(node)
  }
  try {
    // The first alone, for it migrates; the others join.
    await start()
    await Promise.all(Array.from({ length: processes - 1 }, start))
    return await checkCopies(cluster, nodes, caller, copies)
  } finally {
    caller.close()
    await Promise.all(nodes.map((node) => node.stop()))
  }
}

async function checkCopies(
  cluster: Cluster,
  nodes: readonly Child[],
  caller: Caller,
  copies: number,
): Promise<Verdict> {
  const ports = await Promise.all(nodes.map((node) => node.ask<number>('port')))
  const terms = await readTerms(caller, ports[0] ?? 0)
  const header = paymentHeader(terms, signPayment(payer, terms))
  const before = await tokenBalance(cluster.base, payer.address)
  const statuses = new Map<number, number>()
  await Promise.all(
    Array.from({ length: copies }, async (_, index) => {
      const port = ports[index % ports.length] ?? 0
      const { status } = await caller.get(port, paidPath, { 'payment-signature': header })
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }),
  )
  const callCounts = await Promise.all(nodes.map((node) => node.ask<CallCounts>('callCounts')))
  const once = {
    served: statuses.get(200) ?? 0,
    'handler run': callCounts.reduce((sum, { prepared }) => sum + prepared, 0),
    settle: callCounts.reduce((sum, { settled }) => sum + settled, 0),
    'charge on chain': await chargesOf(cluster, payer.address),
  }
  const spent = before - (await tokenBalance(cluster.base, payer.address))
  const { rows } = await cluster.owner.query<{ state: string }>('select state from payment where payer = $1', [
    payer.address.toLowerCase(),
  ])
  const others = [...statuses].filter(([status]) => status !== 200).sort(([a], [b]) => a - b)
  return {
    name: `one payment, ${copies} copies over ${nodes.length} processes`,
    asked: '1 served, 1 handler run, 1 settle',
    measured: [
      ...Object.entries(once).map(([what, times]) => `${times} ${what}`),
      ...others.map(([status, count]) => `${count} x ${status}`),
    ].join(', '),
    faults: [
      ...Object.entries(once).flatMap(([what, times]) => (times === 1 ? [] : [`${times} ${what}`])),
      ...others.filter(([status]) => !refusals.has(status)).map(([status]) => `a ${status}`),
      ...(spent === BigInt(terms.accepted.amount) ? [] : [`${spent} paid instead of ${terms.accepted.amount}`]),
      ...(rows.length === 1 && rows[0]?.state === 'served' ? [] : [`rows: ${JSON.stringify(rows)}`]),
      ...(await faultsInBooks(cluster.owner)),
    ],
  }
}

/** How often the token itself has seen an authorization of this payer used. */
async function chargesOf({ base }: Cluster, address: string): Promise<number> {
  const used = [topics.authorizationUsed, addressTopic(address.toLowerCase() as Address)]
  const filter = { address: base.usdc, topics: used, fromBlock: '0x0', toBlock: 'latest' }
  return ((await base.request('eth_getLogs', [filter])) as unknown[]).length
}
