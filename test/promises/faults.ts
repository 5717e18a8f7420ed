import { setTimeout as sleep } from 'node:timers/promises'
import type { PrivateKeyAccount } from 'viem/accounts'
import { percentiles } from '../../bench/percentiles.ts'
import type { Interceptors } from '../../packages/node/src/compose/infrastructure.ts'
import { faultsInBooks } from '../harness/books.ts'
import { createFaultPoints, type FaultPoints } from '../harness/fault-points.ts'
import type { TillFixture } from '../harness/till-fixture.ts'
import { tokenBalance } from '../harness/token-balance.ts'
import { together } from '../harness/until.ts'
import { createDice, createFaults, createProgress, type Dice, type Faults, type Proof, plain } from './proof.ts'
import { meteredShop, openProofNode, type ProofNode, proofPriceMicro } from './proof-node.ts'
import { byEveryMethod, byExact, type Signing, type Try } from './sign-tries.ts'

const atOnce = 96
const fundedMicro = 10_000_000_000n
/** One port call in so many fails: a purchase makes about twenty of them. */
const callsPerFault = 60
const patienceMs = 240_000
/** From the payment that was charged to its answer; what came before it took nothing. */
const servedWithinMs = 60_000

/**
 * Nobody pays twice, nobody for nothing: purchases through a node whose port calls fail at random, before their work and
 * after it, whose facilitator breaks, denies and names other transactions, by clients that sign a new one after whatever
 * they are asked to; those that name their purchases also hang up. A second process beside it recovers. `count` is purchases.
 */
export const proveNobodyPaysTwice: Proof = (options) => proveBy(byExact, options)

/** The same by every payment method that settles for each call; each try of a purchase may use another one. */
export const proveMethods: Proof = (options) => proveBy(byEveryMethod, options)

async function proveBy(signing: Signing, { count, say }: Parameters<Proof>[0]) {
  const points = createFaultPoints()
  const dice = createDice(Date.now() % 1_000_000)
  const proofNode = await openProofNode({ ownShops: 'till', shops: [meteredShop] })
  try {
    const faulty = await proofNode.till.startAnother({
      intercept: failSettlement(points, dice),
      shops: proofNode.shops,
      jobs: false,
      env: { BASE_URL: proofNode.till.node.url },
    })
    return await buyUnderFaults(proofNode, { url: faulty.address, signing, points, dice, count, say })
  } finally {
    points.injectFaults(undefined)
    await proofNode.till.close()
  }
}

/** What a facilitator may do beside failing: deny what it did, or claim what it did not do. */
function failSettlement(points: FaultPoints, dice: Dice): Interceptors {
  const { intercept } = points
  return {
    ...intercept,
    facilitator: (real) => {
      const failing = intercept.facilitator?.(real) ?? real
      return {
        ...failing,
        settle: async (payment, signal) => {
          const lie = dice.below(20)
          if (lie === 0) return { status: 'refused', reason: 'invalid_transaction_state', payloadSent: true }
          const outcome = await failing.settle(payment, signal)
          if (lie === 1) return { status: 'refused', reason: 'unexpected_settle_error', payloadSent: true }
          if (lie === 2) return { status: 'unknown', reason: 'settlement_pending' }
          if (lie === 3) return { status: 'submitted', transaction: payment.paymentKey, feeMicro: 0n }
          return outcome
        },
      }
    },
  }
}

type FaultyRun = {
  url: string
  signing: Signing
  points: FaultPoints
  dice: Dice
  count: number
  say(text: string): void
}
type Tally = { answered: number; fresh: number; statuses: Map<string, number>; waitedMs: number[]; paidMs: number[] }

async function buyUnderFaults({ till }: ProofNode, { url, signing, points, dice, count, say }: FaultyRun) {
  const faults = createFaults()
  const buyers = await Promise.all(Array.from({ length: Math.min(atOnce, count) }, () => till.newBuyer(fundedMicro)))
  for (const buyer of buyers) await signing.approve?.(till.base, buyer)
  const tally: Tally = { answered: 0, fresh: 0, statuses: new Map(), waitedMs: [], paidMs: [] }
  let struck = 0
  points.injectFaults(() => {
    if (dice.below(callsPerFault) > 0) return undefined
    struck += 1
    return dice.below(2) === 0 ? 'before' : 'after'
  })
  const progress = createProgress(say, count, 'purchases')
  await together(count, atOnce, async (index, worker) => {
    const buyer = buyers[worker] as PrivateKeyAccount
    const { path, sign } = signing.purchase(dice)
    await buyOnce(till, buyer, `${url}${path}?of=${index}`, { sign, dice, tally, faults, say })
    progress(tally.answered)
  })
  points.injectFaults(undefined)
  await settleDown(till, faults)
  for (const fault of await faultsInBooks(till.db.owner)) faults.note(fault)
  const waited = percentiles(tally.waitedMs)
  const paid = percentiles(tally.paidMs)
  const p99 = paid(0.99)
  if (p99 > servedWithinMs) faults.note(`p99 from the charged payment to its answer is ${plain(p99)} ms`)
  if (struck < count / 10) faults.note(`only ${struck} faults struck: this run shows little`)
  const details = [...tally.statuses]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([status, n]) => `${plain(n)} x ${status}`)
  return {
    seen: `${plain(tally.answered)} of ${plain(count)} purchases answered and charged once through ${plain(struck)} faults (${details.join(', ')}; ${plain(tally.fresh)} payments signed again); from the charged payment to its answer p50 ${plain(paid(0.5))} ms, p99 ${plain(p99)} ms, slowest ${plain(paid(1))} ms; with tries that took nothing p99 ${plain(waited(0.99))} ms; ${faults.count()} wrong`,
    faults: faults.all(),
  }
}

type Buying = { sign: Try; dice: Dice; tally: Tally; faults: Faults; say(text: string): void }

/** Signs again after every answer but a 200, as a stock client does; a 402 must mean that nothing moved. */
async function buyOnce(
  till: TillFixture,
  buyer: PrivateKeyAccount,
  url: string,
  { sign, dice, tally, faults, say }: Buying,
) {
  const before = await tokenBalance(till.base, buyer.address)
  const startedMs = performance.now()
  // With what the purchase before may have left open.
  const startedAt = new Date(Date.now() - 60_000)
  const seen: string[] = []
  const tries: { isCharged(): Promise<boolean>; sentMs: number }[] = []
  // Who names the purchase may hang up whenever it likes. Who does not must hear the answer out: when it hangs up just as
  // the last byte is handed over, nobody can tell that it did not read it, and the next payment is another purchase.
  const identifier = dice.below(2) === 0 ? `named-${new URL(url).search.slice(4)}-${'0'.repeat(16)}` : undefined
  for (let attempt = 0; ; attempt += 1) {
    const { headers, name, named, isCharged } = await sign(till.base, buyer, url, identifier)
    const startedAtMs = Date.now()
    tries.push({ isCharged, sentMs: performance.now() })
    const hangsUp = named && dice.below(10) === 0
    const { status, code } = await sendOrHangUp(url, headers, hangsUp ? dice.below(150) : undefined)
    seen.push(`${clockText(startedAtMs)} ${name} ${status} ${code}`)
    tally.statuses.set(status, (tally.statuses.get(status) ?? 0) + 1)
    if (status === '402' && (await isCharged())) faults.note(`${url}: 402 and charged`)
    if (status === '200') break
    if (performance.now() - startedMs > patienceMs) {
      faults.note(`${url}: never answered: ${seen.join(', ')}`)
      return
    }
    tally.fresh += 1
    await sleep(Math.min(2_000, 100 * 2 ** attempt))
  }
  tally.answered += 1
  const answeredMs = performance.now()
  tally.waitedMs.push(answeredMs - startedMs)
  for (const { isCharged, sentMs } of tries)
    if (tries.length === 1 || (await isCharged())) tally.paidMs.push(answeredMs - sentMs)
  if (answeredMs - startedMs > servedWithinMs)
    say(`slow: ${url}: ${seen.join(', ')}; the books: ${await booksOf(till, buyer.address, startedAt)}`)
  const spent = before - (await tokenBalance(till.base, buyer.address))
  if (spent !== proofPriceMicro)
    faults.note(
      `${url}: charged ${spent} for what costs ${proofPriceMicro}: ${seen.join(', ')}; the books: ${await booksOf(till, buyer.address, startedAt)}`,
    )
}

const clockText = (ms: number) => new Date(ms).toISOString().slice(14, 23)

/** What the node knows of the payments of a purchase that went wrong, for anyone who looks into it. */
async function booksOf(till: TillFixture, payer: string, since: Date): Promise<string> {
  const { rows } = await till.db.owner.query<Record<string, unknown>>(
    `select left(encode(payment_key, 'hex'), 6) as nonce, state, reason, right(resource, 8) as resource, client_gone, claimed_at, intent_at,
       settled_at, ended_at, delivered_at from payment where payer = $1 and claimed_at >= $2 order by claimed_at`,
    [payer.toLowerCase(), since],
  )
  return rows
    .map((row) =>
      Object.values(row)
        .map((value) => (value instanceof Date ? clockText(value.getTime()) : value))
        .join(' '),
    )
    .join(' | ')
}

async function sendOrHangUp(
  url: string,
  headers: Record<string, string>,
  afterMs: number | undefined,
): Promise<{ status: string; code: string }> {
  const hangUp = new AbortController()
  const timer = afterMs === undefined ? undefined : setTimeout(() => hangUp.abort(), afterMs)
  try {
    const response = await fetch(url, { headers, signal: hangUp.signal })
    const { code = '' } = (await response.json()) as { code?: string }
    return { status: String(response.status), code }
  } catch {
    return { status: 'broken off', code: '' }
  } finally {
    clearTimeout(timer)
  }
}

/** Until nothing is under way: everything settled is served or credited, everything else has provably not moved. */
async function settleDown(till: TillFixture, faults: Faults): Promise<void> {
  for (let tries = 0; tries < 300; tries += 1) {
    const { rows } = await till.db.owner.query<{ n: bigint }>(
      `select count(*) as n from payment where state in ('claimed','settling','unknown','settled')`,
    )
    if (rows[0]?.n === 0n) return
    await till.base.control.mine(1)
    await sleep(200)
  }
  const { rows } = await till.db.owner.query<{ state: string; n: bigint }>(
    `select state, count(*) as n from payment where state in ('claimed','settling','unknown','settled') group by state`,
  )
  faults.note(`after a minute of peace: ${rows.map(({ state, n }) => `${n} ${state}`).join(', ')}`)
}
