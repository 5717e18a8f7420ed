import { checksumAddress } from '@assay/protocol/address'
import { chainOfAsset } from '@assay/protocol/asset'
import type { Json } from '@assay/protocol/canonical-json'
import type { Micro } from '@assay/protocol/money'
import type { JwsPort } from '../contract/offers.ts'
import type { AnswerContent, PaidRoute, Sale, SaleHook } from '../contract/paid-call.ts'
import { movedMoneyOf } from '../contract/payment-record.ts'
import { type Clock, nowSeconds } from '../kernel/clock.ts'
import type { Log } from '../kernel/log.ts'
import { type LedgerTransaction, post, takeTransfer, takeTransfers } from '../ledger/index.ts'
import { encodeSuccess } from '../schemes/encode-response.ts'
import type { Database, Tx } from '../store/database.ts'
import { createBatcher } from '../store/group-commit.ts'
import type { Confirmed } from '../transitions/settlement-result.ts'
import {
  expectClearingEmpty,
  type FinishedClaim,
  holdPostings,
  type MoneySource,
  salePostings,
} from './sale-postings.ts'
import { completeAnswers, markHeld, markServed, type ServedRow } from './store-finish.ts'

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
  /** Set when sales of the route that end together may share a transaction. */
  commitMany: PaidRoute['commitMany']
}

export type FinishOutcome =
  | { status: 'served'; paymentResponse: string; answer: AnswerContent | undefined }
  | { status: 'held' }
  /** The effect could not be committed: the buyer's money is on its credit. */
  | { status: 'credited' }
  /** Its transfer had been posted as something else, such as the payer's credit. */
  | { status: 'posted_otherwise' }
  /** Another process finished it first. */
  | { status: 'already' }

export type FinishDeps = {
  database: Database
  clock: Clock
  log: Log
  jws: JwsPort
  hooks: readonly SaleHook[]
  /** Posts the money to the payer's credit and ends the payment; used when the effect cannot be had. */
  credit(claim: FinishedClaim, evidence: Confirmed, reason: string): Promise<void>
  /** Ends a payment whose transfer was posted as something else. */
  failPosted(claim: FinishedClaim): Promise<void>
  /** These are committed. */
  served?(paymentIds: readonly string[]): void
}

/** The transfer that paid was posted before: it cannot pay a second time. */
export class TransferAlreadyPosted extends Error {
  override readonly name = 'TransferAlreadyPosted'
}

/** Thrown by a commit when what was sold can no longer be given; after any other error recovery tries again. */
export class SaleImpossible extends Error {
  override readonly name = 'SaleImpossible'
}

/** The most sales in one transaction: enough to share one commit to disk, few enough to end soon. */
const batch = { maxItems: 128, maxConcurrent: 2 }

/**
 * Ends settled payments: postings, effect, sale hooks and `served` in one transaction. Sales without a separate
 * effect, and those of a route that commits many at once, share it. A shared transaction that fails is halved until the
 * failing sale is alone.
 */
export function createFinishSales(deps: FinishDeps) {
  const run = async (inputs: readonly FinishInput[]) => {
    const outcomes = await deps.database.transaction((tx) => finishAll(deps, tx, inputs))
    deps.served?.(inputs.flatMap(({ claim }, index) => (outcomes[index]?.status === 'served' ? [claim.id] : [])))
    return outcomes
  }
  const plain = createBatcher<FinishInput, FinishOutcome>({ ...batch, run })
  const byRoute = new Map<string, typeof plain>()
  const batcherOf = ({ claim }: FinishInput) => {
    const key = `${claim.network} ${claim.routeId}`
    const batcher = byRoute.get(key) ?? createBatcher<FinishInput, FinishOutcome>({ ...batch, maxConcurrent: 1, run })
    byRoute.set(key, batcher)
    return batcher
  }
  const end = async (input: FinishInput): Promise<FinishOutcome> => {
    if (input.hold) return deps.database.transaction((tx) => holdOne(deps, tx, input))
    if (input.commitMany) return batcherOf(input).submit(input)
    if (!input.commit) return plain.submit(input)
    return (await run([input]))[0] as FinishOutcome
  }
  return {
    async finish(input: FinishInput): Promise<FinishOutcome> {
      try {
        return await end(input)
      } catch (error) {
        if (error instanceof TransferAlreadyPosted) {
          await deps.failPosted(input.claim)
          return { status: 'posted_otherwise' }
        }
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
  // The receipt of an effect is signed after it: it may bind us to what the effect made.
  const responses = new Map(
    inputs.flatMap((input) => (input.commit ? [] : [[input.claim.id, paymentResponse(deps, input)] as const])),
  )
  const rows = inputs.map((input): ServedRow => {
    const response = responses.get(input.claim.id) ?? null
    return { id: input.claim.id, evidence: input.evidence, provisional: input.provisional, paymentResponse: response }
  })
  const served = await markServed(tx, rows, nowMs)
  const mine = inputs.filter((input) => served.has(input.claim.id))
  const money = await moneyOf(tx, mine, served, nowMs)
  const replaced = await endSales(deps, tx, {
    inputs: mine,
    sales: mine.map((input) => toSaleOf(input, nowMs)),
    unposted: mine.flatMap((input, index) => salePostings(input, money[index] as MoneySource)),
    responses,
  })
  return inputs.map(({ claim }) =>
    served.has(claim.id)
      ? { status: 'served', paymentResponse: responses.get(claim.id) as string, answer: replaced.get(claim.id) }
      : { status: 'already' },
  )
}

type Ending = {
  /** Whose money is here. */
  inputs: readonly FinishInput[]
  sales: readonly Sale[]
  unposted: LedgerTransaction[]
  /** The receipts by payment; those of an effect are added with it. */
  responses: Map<string, string>
}

/** Effects, sale hooks and postings. What effects and hooks post about a sale is posted with it. */
async function endSales(deps: FinishDeps, tx: Tx, ending: Ending): Promise<Map<string, AnswerContent | undefined>> {
  const { inputs, sales, unposted } = ending
  const [first] = inputs
  if (!first) return new Map()
  const replaced = await commitEffects(deps, tx, ending)
  for (const hook of deps.hooks) await hook(tx, sales, unposted)
  await post(tx, unposted)
  if (first.commit && first.claim.payee === 'custody') await expectClearingEmpty(tx, first.claim, sales)
  return replaced
}

/** Takes the transfer of each sale whose money was not posted when it was held. */
async function moneyOf(
  tx: Tx,
  inputs: readonly FinishInput[],
  served: ReadonlyMap<string, 'held' | 'fresh'>,
  nowMs: number,
): Promise<MoneySource[]> {
  const fresh = inputs.filter(({ claim }) => served.get(claim.id) === 'fresh')
  const taken = await takeTransfers(
    tx,
    fresh.map(({ claim, evidence }) => ({
      money: movedMoneyOf(claim, evidence),
      posting: { as: 'payment', for: claim.id },
    })),
    nowMs,
  )
  const turns = new Map(fresh.map(({ claim }, index) => [claim.id, taken[index]]))
  return inputs.map(({ claim }) => {
    if (served.get(claim.id) === 'held') return 'held'
    const transfer = turns.get(claim.id)
    if (!transfer) throw new TransferAlreadyPosted(`the transfer of ${claim.id} was posted before`)
    return { transfer }
  })
}

/** A shared transaction is of one route and chain, or of sales that have no separate effect. */
async function commitEffects(
  deps: FinishDeps,
  tx: Tx,
  { inputs, sales, unposted, responses }: Ending,
): Promise<Map<string, AnswerContent | undefined>> {
  const [first] = inputs
  if (!first?.commit) return new Map()
  const answers = first.commitMany
    ? await first.commitMany(tx, sales, unposted)
    : [await first.commit(tx, sales[0] as Sale)]
  if (answers.length !== sales.length) throw new Error(`route ${first.claim.routeId} did not answer every sale`)
  for (const [index, input] of inputs.entries())
    responses.set(input.claim.id, paymentResponse(deps, input, answers[index]?.commitments))
  await completeAnswers(
    tx,
    sales.map(({ paymentId }, index) => ({
      id: paymentId,
      paymentResponse: responses.get(paymentId) as string,
      answer: answers[index],
    })),
  )
  return new Map(sales.map(({ paymentId }, index) => [paymentId, answers[index]]))
}

/** Money that is here but not final, for something that cannot be revoked: it waits in clearing. */
async function holdOne(deps: FinishDeps, tx: Tx, input: FinishInput): Promise<FinishOutcome> {
  const held = await markHeld(tx, input.claim.id, input.evidence, deps.clock.nowMs())
  if (!held) return { status: 'already' }
  const posting = { as: 'payment', for: input.claim.id }
  const transfer = await takeTransfer(tx, movedMoneyOf(input.claim, input.evidence), posting, deps.clock.nowMs())
  if (!transfer) throw new TransferAlreadyPosted(`the transfer of ${input.claim.id} was posted before`)
  await post(tx, holdPostings(input, transfer))
  return { status: 'held' }
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

type Paid = { claim: FinishedClaim; evidence: { transaction: string } }

export function paymentResponse(
  deps: Pick<FinishDeps, 'jws' | 'clock'>,
  { claim, evidence }: Paid,
  commitments: Record<string, Json> = {},
): string {
  const payer = checksumAddress(claim.payer)
  const receipt = deps.jws.sign(
    {
      ...commitments,
      version: 1,
      network: chainOfAsset(claim.network),
      resourceUrl: claim.resource,
      payer,
      issuedAt: nowSeconds(deps.clock),
      transaction: evidence.transaction,
    },
    claim.resource,
  )
  return encodeSuccess({
    payer,
    transaction: evidence.transaction,
    network: claim.network,
    amount: claim.amountMicro.toString(),
    receipt,
  })
}
