import { type ChainPort, type ChainTransfer, ChainUnreadable, type SettlementEvidence } from '../chain/index.ts'
import type { Facilitator } from '../contract/facilitator.ts'
import type { Charge, Scheme, VerifiedPayment } from '../contract/scheme.ts'
import { isScreening } from '../facilitators/refusal-causes.ts'
import type { Hex } from '../kernel/bytes.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Micro } from '../kernel/money.ts'

export type Confirmed = Extract<SettlementEvidence, { status: 'confirmed' }>

/** What a payment key did instead of our transfer: moved other money, or nothing at all. */
export type OtherUse = { blockNumber: bigint; blockHash: Hex; transfer: ChainTransfer | undefined }

/** What is certain about a payment after an attempt to settle it. */
export type SettlementResult =
  | { status: 'settled'; evidence: Confirmed; feeMicro: Micro; gasGwei: bigint }
  /** Provably no money moved. */
  | { status: 'failed'; reason: string; message?: string; gasGwei: bigint }
  /** The facilitator could not be used and nothing was sent: the same payment may be tried again. */
  | { status: 'not_sent'; reason: string }
  /** The key was spent before our claim: the money is here, but not for this request. */
  | { status: 'spent_before'; evidence: Confirmed }
  /** The key was used, and not for our transfer. Only a final block makes that certain. */
  | { status: 'used_otherwise'; use: OtherUse }
  /** Refused after the signed payload had left this process: it can be carried until it expires. */
  | { status: 'refused'; reason: string; gasGwei: bigint }
  /** The facilitator does not serve this payer. */
  | { status: 'payer_refused'; reason: string }
  | { status: 'unknown'; reason: string; transaction?: Hex }
  /** A settlement was reported that our own read contradicts. */
  | { status: 'contradicted'; detail: string }

export type SettleDeps = { facilitator: Facilitator; clock: Clock; deadlineMs: number }

/** A verified payment whose intent is stored, and how its scheme settles and shows it. */
export type Settlement = VerifiedPayment & {
  scheme: Pick<Scheme, 'settle' | 'confirmsRefusal' | 'evidence'>
  chain: ChainPort
  claim: Charge & { headBlock: bigint }
}

// Made once: an abort without a reason makes an exception with a stack for every purchase.
const over = new Error('the wait for the settlement is over')

/** Settles through the scheme and believes only our own read of the chain. */
export async function settlePayment(deps: SettleDeps, settlement: Settlement): Promise<SettlementResult> {
  const startedMs = deps.clock.nowMs()
  const timeout = new AbortController()
  const remainingMs = () => deps.deadlineMs - (deps.clock.nowMs() - startedMs)
  const timer = deps.clock.sleep(deps.deadlineMs, timeout.signal).then(
    () => 'late' as const,
    () => 'stopped' as const,
  )
  try {
    const outcome = await Promise.race([
      settlement.scheme
        .settle(settlement, settlement.claim, deps.facilitator, timeout.signal)
        .catch((error: unknown) => ({
          status: 'unknown' as const,
          reason: error instanceof Error ? error.message.slice(0, 200) : 'the facilitator failed',
        })),
      timer.then(() => ({ status: 'unknown' as const, reason: 'timeout' })),
    ])
    if (outcome.status === 'submitted') return await confirm(deps, outcome, settlement, remainingMs)
    if (outcome.status === 'refused') return await afterRefusal(outcome, settlement)
    return await afterUnknown(outcome, settlement)
  } finally {
    timeout.abort(over)
  }
}

const pollMs = 250
/** So long without the reported transaction, and the key is asked whether another one carried it. */
const keyReadEveryMs = 2_000
/** Older uses of a key already have a row: reconciliation records every transfer. */
const keySearchBlocks = 5_000n
/** The key was unused at our claim, give or take an endpoint that was behind. */
const sinceClaimBlocks = 100n
export const sinceClaim = (headBlock: bigint) => blocksBefore(headBlock, sinceClaimBlocks)
const blocksBefore = (block: bigint, blocks: bigint) => (block > blocks ? block - blocks : 0n)

/** Waits for the sealed block that was promised, as long as the request may wait. */
async function confirm(
  deps: SettleDeps,
  submitted: { transaction: Hex; feeMicro: Micro; gasGwei?: bigint },
  settlement: Settlement,
  remainingMs: () => number,
): Promise<SettlementResult> {
  const { scheme, chain, claim } = settlement
  let keyReadMs = deps.clock.nowMs()
  const costs = { feeMicro: submitted.feeMicro, gasGwei: submitted.gasGwei ?? 0n }
  for (;;) {
    const evidence = await scheme.evidence.byTransaction(chain, claim, submitted.transaction)
    if (evidence.status === 'confirmed') return { status: 'settled', evidence, ...costs }
    // Another transaction may have carried the payment, as when its fee was raised; the reported one then reverts or
    // never appears.
    const isLast = remainingMs() <= pollMs
    if (isLast || deps.clock.nowMs() - keyReadMs >= keyReadEveryMs) {
      keyReadMs = deps.clock.nowMs()
      const byKey = await byKeyOnly(settlement, sinceClaimBlocks)
      // Nothing but a transfer ends the wait: the reported transaction may still land, whatever else is seen now.
      if (byKey?.status === 'settled') return { ...byKey, ...costs }
    }
    if (evidence.status === 'used_otherwise') return { status: 'used_otherwise', use: transferUse(evidence.transfer) }
    if (evidence.status === 'reverted') {
      const byKey = await byKeyOnly(settlement)
      if (byKey?.status === 'settled') return { ...byKey, ...costs }
      if (byKey && byKey.status !== 'unknown') return byKey
      return {
        status: 'contradicted',
        detail: `${submitted.transaction} was reported as settled and does not carry it`,
      }
    }
    if (isLast) return { status: 'unknown', reason: 'not seen in a block yet', transaction: submitted.transaction }
    await deps.clock.sleep(pollMs)
  }
}

type Refusal = { reason: string; message?: string; gasGwei?: bigint; payloadLeft: boolean }

async function afterRefusal(refusal: Refusal, settlement: Settlement): Promise<SettlementResult> {
  const { scheme, chain, claim } = settlement
  // A refusal is no proof: anyone may have sent the payment.
  const byKey = await byKeyOnly(settlement)
  if (byKey) return byKey
  // An outage of the facilitator is not the buyer's fault, and 402 would ask the buyer to pay again.
  if (isOutage(refusal.reason)) return { status: 'not_sent', reason: refusal.reason }
  const gasGwei = refusal.gasGwei ?? 0n
  if (isScreening(refusal.reason)) return { status: 'payer_refused', reason: refusal.reason }
  if (refusal.payloadLeft && !(await scheme.confirmsRefusal(settlement, claim, chain, refusal.reason)))
    return { status: 'refused', reason: refusal.reason, gasGwei }
  return failedIfUnused(refusal, settlement)
}

const isOutage = (reason: string) => reason.startsWith('facilitator_') || reason === 'settlement_aborted'

async function afterUnknown(
  outcome: { reason: string; transaction?: Hex },
  settlement: Settlement,
): Promise<SettlementResult> {
  const byKey = await byKeyOnly(settlement)
  if (byKey && byKey.status !== 'unknown') return byKey
  return {
    status: 'unknown',
    reason: outcome.reason,
    ...(outcome.transaction ? { transaction: outcome.transaction } : {}),
  }
}

/** What the key itself tells, or undefined when it is unused. */
async function byKeyOnly(
  { scheme: { evidence }, chain, claim }: Settlement,
  searchBlocks = keySearchBlocks,
): Promise<SettlementResult | undefined> {
  try {
    if (!(await evidence.isUsed(chain, claim, 'latest'))) return undefined
  } catch (error) {
    if (error instanceof ChainUnreadable) return { status: 'unknown', reason: error.message }
    throw error
  }
  const fromBlock = blocksBefore(claim.headBlock, searchBlocks)
  return fromKeyEvidence(await evidence.byKey(chain, claim, fromBlock), claim.headBlock)
}

/** The key is used: by our transfer after our claim (ours) or before it (credit), by another one, or by a cancellation. */
export function fromKeyEvidence(evidence: SettlementEvidence, headBlock: bigint): SettlementResult {
  switch (evidence.status) {
    case 'confirmed':
      return evidence.blockNumber > headBlock
        ? { status: 'settled', evidence, feeMicro: 0n, gasGwei: 0n }
        : { status: 'spent_before', evidence }
    case 'used_otherwise':
      return { status: 'used_otherwise', use: transferUse(evidence.transfer) }
    case 'canceled': {
      const { blockNumber, blockHash } = evidence
      return { status: 'used_otherwise', use: { blockNumber, blockHash, transfer: undefined } }
    }
    case 'could_not_read':
      return { status: 'unknown', reason: evidence.reason }
    default:
      return { status: 'unknown', reason: 'the payment is used, its transaction was not found yet' }
  }
}

const transferUse = (transfer: ChainTransfer): OtherUse => ({
  blockNumber: transfer.blockNumber,
  blockHash: transfer.blockHash,
  transfer,
})

async function failedIfUnused(
  { reason, message, gasGwei = 0n }: Refusal,
  { scheme, chain, claim }: Settlement,
): Promise<SettlementResult> {
  try {
    if (await scheme.evidence.isUsed(chain, claim, 'latest'))
      return { status: 'unknown', reason: 'the payment was used meanwhile' }
  } catch (error) {
    if (error instanceof ChainUnreadable) return { status: 'unknown', reason: error.message }
    throw error
  }
  return { status: 'failed', reason, gasGwei, ...(message === undefined ? {} : { message }) }
}
