import { type Address, checksumAddress } from '../kernel/address.ts'
import type { Json } from '../kernel/canonical-json.ts'
import { type Clock, nowSeconds } from '../kernel/clock.ts'
import type { Log } from '../kernel/log.ts'
import type { Micro } from '../kernel/money.ts'
import { accounts, type LedgerTransaction, post } from '../ledger/index.ts'
import type { Database, Tx } from '../store/database.ts'
import { createBatcher } from '../store/group-commit.ts'
import type { JwsPort } from './offers.ts'
import type { AnswerContent, PaidRoute, Sale, SaleHook } from './paid-call.ts'
import type { Confirmed } from './settle-payment.ts'
import { markHeld, markServed, replaceAnswer, type ServedRow } from './store-finish.ts'
import { encodeSuccess } from './x402/encode-response.ts'

/** The part of a claim that finishing needs; recovery has it from the row. */
export type FinishedClaim = {
  id: string
  network: string
  payer: Address
  payee: 'pay_to' | 'custody'
  amountMicro: Micro
  routeId: string
  resource: string
  ref: Address | null
  aff: Address | null
  /** Times its block was reorganised away; each new ending is posted under a reference of its own. */
  reorgs?: number
}

/** Postings are idempotent by reference: one per payment, and one more for each time a reorg undid it. */
export function postingReference(kind: string, claim: { id: string; reorgs?: number }): string {
  return claim.reorgs ? `${kind}:${claim.id}#${claim.reorgs}` : `${kind}:${claim.id}`
}

export type FinishInput = {
  claim: FinishedClaim
  evidence: Confirmed
  feeMicro: Micro
  gasGwei: bigint
  reservation: Json
  /** Money is here, the answer waits for finality. */
  hold: boolean
  provisional: boolean
  commit: PaidRoute['commit']
}

export type FinishOutcome =
  | { status: 'served'; paymentResponse: string; answer: AnswerContent | undefined }
  | { status: 'held' }
  /** The effect could not be committed: the buyer's money is on its credit. */
  | { status: 'credited' }
  /** Somebody else finished it first. */
  | { status: 'already' }

export type FinishDeps = {
  database: Database
  clock: Clock
  log: Log
  jws: JwsPort
  hooks: readonly SaleHook[]
  /** Posts the money to the payer's credit and ends the payment; used when the effect cannot be had. */
  credit(claim: FinishedClaim, evidence: Confirmed, reason: string): Promise<void>
}

/** A commit says so when what was sold can no longer be given; anything else is tried again by recovery. */
export class SaleImpossible extends Error {
  override readonly name = 'SaleImpossible'
}

/**
 * Ends settled payments: postings, effect, sale hooks and `served` in one transaction. Sales without an effect of their
 * own share a transaction, so that one commit to disk carries many of them.
 */
export function createFinishSales(deps: FinishDeps) {
  const plain = createBatcher<FinishInput, FinishOutcome>({
    maxItems: 128,
    maxConcurrent: 2,
    run: (inputs) => deps.database.transaction((tx) => finishAll(deps, tx, inputs)),
  })
  return {
    async finish(input: FinishInput): Promise<FinishOutcome> {
      if (!input.commit && !input.hold) return plain.submit(input)
      try {
        const outcomes = await deps.database.transaction((tx) =>
          input.hold ? holdOne(deps, tx, input) : finishAll(deps, tx, [input]),
        )
        return outcomes[0] as FinishOutcome
      } catch (error) {
        if (!(error instanceof SaleImpossible)) throw error
        deps.log.warn(
          { paymentId: input.claim.id, reason: error.message },
          'a paid answer cannot be given; its price is credited',
        )
        await deps.credit(input.claim, input.evidence, error.message)
        return { status: 'credited' }
      }
    },
  }
}

export type FinishSales = ReturnType<typeof createFinishSales>

async function finishAll(deps: FinishDeps, tx: Tx, inputs: readonly FinishInput[]): Promise<FinishOutcome[]> {
  const nowMs = deps.clock.nowMs()
  const rows: ServedRow[] = inputs.map((input) => ({
    id: input.claim.id,
    evidence: input.evidence,
    provisional: input.provisional,
    paymentResponse: paymentResponse(deps, input),
  }))
  const served = await markServed(tx, rows, nowMs)
  const mine = inputs.filter((input) => served.has(input.claim.id))
  if (mine.length > 0)
    await post(
      tx,
      mine.flatMap((input) => postingsOf(input, served.get(input.claim.id) === 'held')),
    )
  const sales = mine.map((input) => toSaleOf(input, nowMs))
  const replaced = new Map<string, AnswerContent>()
  for (const [index, input] of mine.entries()) {
    const answer = await input.commit?.(tx, sales[index] as Sale)
    if (input.commit && input.claim.payee === 'custody') await expectClearingEmpty(tx, input.claim)
    if (!answer) continue
    await replaceAnswer(tx, input.claim.id, answer)
    replaced.set(input.claim.id, answer)
  }
  for (const hook of deps.hooks) if (sales.length > 0) await hook(tx, sales)
  return inputs.map((input, index) =>
    served.has(input.claim.id)
      ? {
          status: 'served',
          paymentResponse: rows[index]?.paymentResponse as string,
          answer: replaced.get(input.claim.id),
        }
      : { status: 'already' },
  )
}

/** The effect of a custody route sends every micro on; what it forgot would be nobody's, so nothing is committed. */
export async function expectClearingEmpty(
  tx: Tx,
  claim: Pick<FinishedClaim, 'id' | 'network' | 'routeId'>,
): Promise<void> {
  const { rows } = await tx.query<{ left: bigint }>({
    name: 'payment-clearing-left',
    text: `select coalesce(sum(e.amount_micro), 0)::bigint as left from ledger_transaction t
      join ledger_entry e on e.transaction_id = t.id join ledger_account a on a.id = e.account_id
      where t.payment_id = $1 and a.name = $2`,
    values: [claim.id, accounts.clearingPayments(claim.network).name],
  })
  const left = rows[0]?.left ?? 0n
  if (left !== 0n) throw new Error(`route ${claim.routeId} left ${left} in clearing for ${claim.id}`)
}

/** Money that is here but not final, for something that cannot be taken back: it waits in clearing. */
async function holdOne(deps: FinishDeps, tx: Tx, input: FinishInput): Promise<FinishOutcome[]> {
  const held = await markHeld(tx, input.claim.id, input.evidence, deps.clock.nowMs())
  if (!held) return [{ status: 'already' }]
  const { claim } = input
  await post(tx, [
    {
      reference: postingReference('settle', claim),
      kind: 'settle',
      paymentId: claim.id,
      lines: [
        { account: accounts.onchain(claim.network, claim.payee), amount: claim.amountMicro },
        { account: accounts.clearingPayments(claim.network), amount: -claim.amountMicro },
      ],
    },
    ...costsOf(input),
  ])
  return [{ status: 'held' }]
}

/** Shares go where the route's commit sends them; what it leaves in clearing would show as an imbalance. */
function postingsOf(input: FinishInput, wasHeld: boolean): LedgerTransaction[] {
  const { claim } = input
  const source = wasHeld ? accounts.clearingPayments(claim.network) : accounts.onchain(claim.network, claim.payee)
  const target =
    claim.payee === 'custody' && input.commit
      ? accounts.clearingPayments(claim.network)
      : accounts.revenue(claim.network, claim.routeId)
  const sale: LedgerTransaction = {
    reference: postingReference('sale', claim),
    kind: 'sale',
    paymentId: claim.id,
    lines: [
      { account: source, amount: claim.amountMicro },
      { account: target, amount: -claim.amountMicro },
    ],
  }
  // From clearing to clearing nothing moves.
  const lines = source.name === target.name ? [] : [sale]
  return wasHeld ? lines : [...lines, ...costsOf(input)]
}

/** What taking this payment cost: the facilitator's fee in USDC, gas in the chain's own coin. */
function costsOf(input: FinishInput): LedgerTransaction[] {
  const { claim } = input
  const costs: LedgerTransaction[] = []
  if (input.feeMicro > 0n)
    costs.push({
      reference: postingReference('fee', claim),
      kind: 'facilitator_fee',
      paymentId: claim.id,
      lines: [
        { account: accounts.feesFacilitator(claim.network), amount: input.feeMicro },
        { account: accounts.payableFacilitator(claim.network), amount: -input.feeMicro },
      ],
    })
  if (input.gasGwei > 0n) costs.push(gasPosting(claim.network, postingReference('gas', claim), claim.id, input.gasGwei))
  return costs
}

export function gasPosting(network: string, reference: string, paymentId: string, gasGwei: bigint): LedgerTransaction {
  return {
    reference,
    kind: 'gas',
    paymentId,
    lines: [
      { account: accounts.gasSpent(network), amount: gasGwei },
      { account: accounts.gasWallet(network), amount: -gasGwei },
    ],
  }
}

function toSaleOf(input: FinishInput, nowMs: number): Sale {
  return saleOf(input.claim, {
    reservation: input.reservation,
    provisional: input.provisional,
    transaction: input.evidence.transaction,
    settledAtMs: nowMs,
    feeMicro: input.feeMicro,
  })
}

export function saleOf(
  claim: FinishedClaim,
  settled: Pick<Sale, 'reservation' | 'provisional' | 'transaction' | 'settledAtMs' | 'feeMicro'>,
): Sale {
  return {
    paymentId: claim.id,
    routeId: claim.routeId,
    network: claim.network,
    payer: claim.payer,
    amountMicro: claim.amountMicro,
    payee: claim.payee,
    attribution: { ...(claim.ref ? { ref: claim.ref } : {}), ...(claim.aff ? { aff: claim.aff } : {}) },
    round: claim.reorgs ?? 0,
    source: 'payment',
    ...settled,
  }
}

function paymentResponse(deps: FinishDeps, input: FinishInput): string {
  const { claim, evidence } = input
  const receipt = deps.jws.sign({
    version: 1,
    network: claim.network,
    resourceUrl: claim.resource,
    payer: checksumAddress(claim.payer),
    issuedAt: nowSeconds(deps.clock),
    transaction: evidence.transaction,
  })
  return encodeSuccess({
    payer: checksumAddress(claim.payer),
    transaction: evidence.transaction,
    network: claim.network,
    amount: claim.amountMicro.toString(),
    receipt,
  })
}
