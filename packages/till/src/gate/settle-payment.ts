import type { Hex } from '@assay/protocol/bytes'
import type { Micro } from '@assay/protocol/money'
import {
  type ChainPort,
  type ChainTransfer,
  ChainUnreadable,
  type ExpectedTransfer,
  type SettlementEvidence,
} from '../chain/index.ts'
import type { Facilitator, FacilitatorPayment } from '../facilitators/port.ts'
import { isScreening, simulationConfirms } from '../facilitators/refusal-causes.ts'
import type { Clock } from '../kernel/clock.ts'

export type Confirmed = Extract<SettlementEvidence, { status: 'confirmed' }>

/** What a nonce did instead of our transfer: moved other money, or nothing at all. */
export type OtherUse = { blockNumber: bigint; blockHash: Hex; transfer: ChainTransfer | undefined }

/** What is certain about a payment after an attempt to settle it. */
export type SettlementResult =
  | { status: 'settled'; evidence: Confirmed; feeMicro: Micro; gasGwei: bigint }
  /** Provably no money moved. */
  | { status: 'failed'; reason: string; message?: string; gasGwei: bigint }
  /** The facilitator could not be used and nothing was sent: the same authorization may be tried again. */
  | { status: 'not_sent'; reason: string }
  /** The nonce was spent before our claim: the money is here, but not for this request. */
  | { status: 'spent_before'; evidence: Confirmed }
  /** The nonce was used, and not for our transfer. Only a final block makes that certain. */
  | { status: 'used_otherwise'; use: OtherUse }
  /** Refused after the signed payload had left this process: it can be carried until it expires. */
  | { status: 'refused'; reason: string; gasGwei: bigint }
  /** The facilitator does not serve this payer. */
  | { status: 'payer_refused'; reason: string }
  | { status: 'unknown'; reason: string; transaction?: Hex }
  /** A settlement was reported that our own read contradicts. */
  | { status: 'contradicted'; detail: string }

export type SettleDeps = { facilitator: Facilitator; chain: ChainPort; clock: Clock; deadlineMs: number }

// Made once: an abort without a reason makes an exception with a stack for every purchase.
const over = new Error('the wait for the settlement is over')

/** Settles through the facilitator and believes only our own read of the chain. */
export async function settlePayment(
  deps: SettleDeps,
  payment: FacilitatorPayment,
  expected: ExpectedTransfer,
  headBlock: bigint,
): Promise<SettlementResult> {
  const startedMs = deps.clock.nowMs()
  const timeout = new AbortController()
  const remainingMs = () => deps.deadlineMs - (deps.clock.nowMs() - startedMs)
  const timer = deps.clock.sleep(deps.deadlineMs, timeout.signal).then(
    () => 'late' as const,
    () => 'stopped' as const,
  )
  try {
    const outcome = await Promise.race([
      deps.facilitator.settle(payment, timeout.signal).catch((error: unknown) => ({
        status: 'unknown' as const,
        reason: error instanceof Error ? error.message.slice(0, 200) : 'the facilitator failed',
      })),
      timer.then(() => ({ status: 'unknown' as const, reason: 'timeout' })),
    ])
    if (outcome.status === 'submitted') return await confirm(deps, outcome, expected, headBlock, remainingMs)
    if (outcome.status === 'refused') return await afterRefusal(deps.chain, outcome, payment, expected, headBlock)
    return await afterUnknown(deps.chain, outcome, expected, headBlock)
  } finally {
    timeout.abort(over)
  }
}

const pollMs = 250
/** So long without the reported transaction, and the nonce is asked whether another one carried it. */
const nonceReadEveryMs = 2_000
/** Older uses of a nonce already have a row: reconciliation records every transfer. */
const nonceSearchBlocks = 5_000n
/** The nonce was unused at our claim, give or take an endpoint that was behind. */
const sinceClaimBlocks = 100n
export const sinceClaim = (headBlock: bigint) => blocksBefore(headBlock, sinceClaimBlocks)
const blocksBefore = (block: bigint, blocks: bigint) => (block > blocks ? block - blocks : 0n)

/** Waits for the sealed block that the facilitator promised, as long as the request may wait. */
async function confirm(
  deps: SettleDeps,
  submitted: { transaction: Hex; feeMicro: Micro; gasGwei?: bigint },
  expected: ExpectedTransfer,
  headBlock: bigint,
  remainingMs: () => number,
): Promise<SettlementResult> {
  let nonceReadMs = deps.clock.nowMs()
  const costs = { feeMicro: submitted.feeMicro, gasGwei: submitted.gasGwei ?? 0n }
  for (;;) {
    const evidence = await deps.chain.settlementByTransaction(submitted.transaction, expected)
    if (evidence.status === 'confirmed') return { status: 'settled', evidence, ...costs }
    // Another transaction may have carried the authorization, as when its fee was raised; the reported one then reverts or
    // never appears.
    const isLast = remainingMs() <= pollMs
    if (isLast || deps.clock.nowMs() - nonceReadMs >= nonceReadEveryMs) {
      nonceReadMs = deps.clock.nowMs()
      const byNonce = await byNonceOnly(deps.chain, expected, headBlock, sinceClaimBlocks)
      // Nothing but a transfer ends the wait: the reported transaction may still land, whatever else is seen now.
      if (byNonce?.status === 'settled') return { ...byNonce, ...costs }
    }
    if (evidence.status === 'used_otherwise') return { status: 'used_otherwise', use: transferUse(evidence.transfer) }
    if (evidence.status === 'reverted') {
      const byNonce = await byNonceOnly(deps.chain, expected, headBlock)
      if (byNonce?.status === 'settled') return { ...byNonce, ...costs }
      if (byNonce && byNonce.status !== 'unknown') return byNonce
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

async function afterRefusal(
  chain: ChainPort,
  refusal: Refusal,
  payment: FacilitatorPayment,
  expected: ExpectedTransfer,
  headBlock: bigint,
): Promise<SettlementResult> {
  // A refusal is no proof: anyone may have sent the authorization.
  const byNonce = await byNonceOnly(chain, expected, headBlock)
  if (byNonce) return byNonce
  // An outage of the facilitator is not the buyer's fault, and 402 would ask the buyer to pay again.
  if (isOutage(refusal.reason)) return { status: 'not_sent', reason: refusal.reason }
  const gasGwei = refusal.gasGwei ?? 0n
  if (isScreening(refusal.reason)) return { status: 'payer_refused', reason: refusal.reason }
  if (refusal.payloadLeft) {
    const simulated = await chain.simulateTransfer(payment.authorization, payment.signature)
    if (!simulationConfirms(refusal.reason, simulated)) return { status: 'refused', reason: refusal.reason, gasGwei }
  }
  return failedIfUnused(chain, expected, refusal.reason, gasGwei, refusal.message)
}

const isOutage = (reason: string) => reason.startsWith('facilitator_') || reason === 'settlement_aborted'

async function afterUnknown(
  chain: ChainPort,
  outcome: { reason: string; transaction?: Hex },
  expected: ExpectedTransfer,
  headBlock: bigint,
): Promise<SettlementResult> {
  const byNonce = await byNonceOnly(chain, expected, headBlock)
  if (byNonce && byNonce.status !== 'unknown') return byNonce
  return {
    status: 'unknown',
    reason: outcome.reason,
    ...(outcome.transaction ? { transaction: outcome.transaction } : {}),
  }
}

/** What the nonce itself tells, or undefined when it is unused. */
async function byNonceOnly(
  chain: ChainPort,
  expected: ExpectedTransfer,
  headBlock: bigint,
  searchBlocks = nonceSearchBlocks,
): Promise<SettlementResult | undefined> {
  try {
    if (!(await chain.authorizationUsed(expected.payer, expected.nonce, 'latest'))) return undefined
  } catch (error) {
    if (error instanceof ChainUnreadable) return { status: 'unknown', reason: error.message }
    throw error
  }
  const fromBlock = blocksBefore(headBlock, searchBlocks)
  return fromNonceEvidence(await chain.settlementByNonce(expected, fromBlock), headBlock)
}

/** The nonce is used: by our transfer after our claim (ours) or before it (credit), by another one, or by a cancellation. */
export function fromNonceEvidence(evidence: SettlementEvidence, headBlock: bigint): SettlementResult {
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
      return { status: 'unknown', reason: 'the nonce is used, its transaction was not found yet' }
  }
}

const transferUse = (transfer: ChainTransfer): OtherUse => ({
  blockNumber: transfer.blockNumber,
  blockHash: transfer.blockHash,
  transfer,
})

async function failedIfUnused(
  chain: ChainPort,
  expected: ExpectedTransfer,
  reason: string,
  gasGwei: bigint,
  message?: string,
): Promise<SettlementResult> {
  try {
    if (await chain.authorizationUsed(expected.payer, expected.nonce, 'latest'))
      return { status: 'unknown', reason: 'the nonce was used meanwhile' }
  } catch (error) {
    if (error instanceof ChainUnreadable) return { status: 'unknown', reason: error.message }
    throw error
  }
  return { status: 'failed', reason, gasGwei, ...(message === undefined ? {} : { message }) }
}
