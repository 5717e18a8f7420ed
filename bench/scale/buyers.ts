import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { faultsInBooks } from '../../test/harness/books.ts'
import { isCharged } from '../../test/harness/token-balance.ts'
import { type BenchTerms, benchPayer, signPayment } from '../load/sign-payments.ts'
import { percentiles } from '../percentiles.ts'
import type { Caller } from './call.ts'
import type { Cluster } from './cluster.ts'
import type { NodeProcess } from './node-process.ts'
import { paymentHeader } from './terms.ts'
import type { Verdict } from './verdict.ts'

export type Purchase = {
  payer: string
  nonce: string
  /** 200, 402, or 0 when nobody said anything final in time. */
  status: number
  attempts: number
  /** By performance.now(). */
  startedMs: number
  ms: number
  lastWord: string
}

/** What a killed process leaves open is decided when the authorization has run out, so buyers wait a little longer. */
const validSeconds = 45
const patienceMs = 120_000
const defaultPace = { everyMs: 60, askAgainAfterMs: 100 }

/** Who buys, at which processes. */
export type Buyers = { caller: Caller; terms: BenchTerms; nodes: readonly NodeProcess[]; payers: number }

/** Buyers who do as the documents say: while the outcome is open, the same payment again, at another process. */
async function buy(
  { caller, terms: offered, nodes, payers }: Buyers,
  index: number,
  askAgainAfterMs: number,
): Promise<Purchase> {
  const payer = benchPayer(index % payers)
  // Something else each time: a payer who asks for the same again is given what is still open.
  const path = `/v1/sandbox/echo?message=scale-${index}`
  const terms = { ...offered, resourceUrl: new URL(path, offered.resourceUrl).href }
  const signed = signPayment(payer, { ...terms, accepted: { ...terms.accepted, maxTimeoutSeconds: validSeconds } })
  const header = paymentHeader(terms, signed, `scale_${randomBytes(16).toString('hex')}`)
  const startedMs = performance.now()
  const purchase = {
    payer: payer.address,
    nonce: signed.authorization.nonce,
    status: 0,
    attempts: 0,
    startedMs,
    ms: 0,
    lastWord: '',
  }
  while (performance.now() - startedMs < patienceMs) {
    const { port } = nodes[(index + purchase.attempts) % nodes.length] as NodeProcess
    purchase.attempts += 1
    try {
      const answer = await caller.get(port, path, { 'payment-signature': header })
      purchase.status = answer.status === 200 || answer.status === 402 ? answer.status : 0
      purchase.lastWord = `${answer.status} ${answer.body.slice(0, 300)}`
    } catch (error) {
      purchase.lastWord = String(error)
    }
    if (purchase.status !== 0) break
    await sleep(askAgainAfterMs)
  }
  purchase.ms = performance.now() - startedMs
  return purchase
}

/** Buys at an even pace whatever happens to the processes, until it is stopped. */
export function keepBuying(
  buyers: Buyers,
  { everyMs, askAgainAfterMs } = defaultPace,
  onPurchase: (purchase: Purchase) => void = () => {},
) {
  const purchases: Promise<Purchase>[] = []
  let stopped = false
  const loop = (async () => {
    const startedMs = performance.now()
    while (!stopped) {
      const bought = buy(buyers, purchases.length, askAgainAfterMs)
      purchases.push(bought)
      void bought.then(onPurchase)
      await sleep(Math.max(0, startedMs + purchases.length * everyMs - performance.now()))
    }
  })()
  return async (): Promise<Purchase[]> => {
    stopped = true
    await loop
    return Promise.all(purchases)
  }
}

/** Every buyer that was charged has the answer, and no buyer without one was charged. */
export async function checkPurchases(
  cluster: Cluster,
  terms: BenchTerms,
  purchases: readonly Purchase[],
  faults: string[],
): Promise<Pick<Verdict, 'measured' | 'notes' | 'faults'>> {
  const count = { answered: 0, refused: 0, lost: 0 }
  for (const purchase of purchases) {
    const charged = await isCharged(cluster.base, purchase.payer, purchase.nonce)
    if (purchase.status === 200) count.answered += 1
    else if (purchase.status === 402) count.refused += 1
    else count.lost += 1
    if (charged !== (purchase.status === 200))
      faults.push(`${charged ? 'charged' : 'not charged'} after ${purchase.attempts} attempts: ${purchase.lastWord}`)
    else if (purchase.status === 0) faults.push(`no final word: ${purchase.lastWord}`)
  }
  const { rows } = await cluster.owner.query<{ micro: bigint }>(
    `select coalesce(sum(amount_micro), 0)::bigint as micro from payment where state = 'served' and payer = any($1)`,
    [[...new Set(purchases.map(({ payer }) => payer.toLowerCase()))]],
  )
  const due = BigInt(terms.accepted.amount) * BigInt(count.answered)
  if (rows[0]?.micro !== due) faults.push(`the books sold for ${rows[0]?.micro}, the buyers have answers for ${due}`)
  faults.push(...(await faultsInBooks(cluster.owner)))
  const exactly = percentiles(purchases.map(({ ms }) => ms))
  const at = (share: number) => Math.round(exactly(share))
  return {
    measured: `${purchases.length} purchases: ${count.answered} answered and charged once, ${count.refused} refused and not charged, ${count.lost} lost`,
    notes: [
      `${purchases.filter(({ attempts }) => attempts > 1).length} needed another try; time to the answer p50 ${at(0.5)}, p99 ${at(0.99)}, longest ${at(1)} ms`,
    ],
    faults,
  }
}
