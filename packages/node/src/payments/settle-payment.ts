import { type ChainPort, ChainUnreadable, type ExpectedTransfer, type SettlementEvidence } from '../chain/index.ts'
import type { Hex } from '../kernel/bytes.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Micro } from '../kernel/money.ts'
import type { Facilitator, FacilitatorPayment } from './facilitators/port.ts'

export type Confirmed = Extract<SettlementEvidence, { status: 'confirmed' }>

/** What is certain about a payment after an attempt to settle it. */
export type SettlementResult =
  | { status: 'settled'; evidence: Confirmed; feeMicro: Micro; gasGwei: bigint }
  /** Provably no money moved. */
  | { status: 'failed'; reason: string; message?: string; gasGwei: bigint }
  /** The facilitator could not be used and nothing was sent: the same authorization may be tried again. */
  | { status: 'not_sent'; reason: string }
  /** The nonce was spent before our claim: the money is here, but not for this request. */
  | { status: 'spent_before'; evidence: Confirmed }
  | { status: 'unknown'; reason: string; transaction?: Hex }
  /** Somebody reports a settlement that our own read contradicts. */
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
    if (outcome.status === 'refused') return await afterRefusal(deps.chain, outcome, expected, headBlock)
    return await afterUnknown(deps.chain, outcome, expected, headBlock)
  } finally {
    timeout.abort(over)
  }
}

const pollMs = 250
/** So long without the reported transaction, and the nonce is asked whether another one carried it. */
const nonceReadEveryMs = 2_000
/** Older uses of a nonce already have a row: reconciliation credits every inbound transfer. */
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
  for (;;) {
    const evidence = await deps.chain.settlementByTransaction(submitted.transaction, expected)
    if (evidence.status === 'confirmed')
      return { status: 'settled', evidence, feeMicro: submitted.feeMicro, gasGwei: submitted.gasGwei ?? 0n }
    // Another transaction may have carried the authorization, as when its fee was raised; the reported one then reverts or
    // never appears.
    const isLast = remainingMs() <= pollMs
    if (isLast || deps.clock.nowMs() - nonceReadMs >= nonceReadEveryMs) {
      nonceReadMs = deps.clock.nowMs()
      const byNonce = await byNonceOnly(deps.chain, expected, headBlock, sinceClaimBlocks)
      // Nothing but a transfer ends the wait: the reported transaction may still land, whatever else is seen now.
      if (byNonce?.status === 'settled')
        return { ...byNonce, feeMicro: submitted.feeMicro, gasGwei: submitted.gasGwei ?? 0n }
    }
    if (evidence.status === 'reverted' || evidence.status === 'mismatch') {
      const byNonce = await byNonceOnly(deps.chain, expected, headBlock)
      if (byNonce) return byNonce
      if (evidence.status === 'mismatch') return { status: 'contradicted', detail: evidence.detail }
      return failedIfUnused(deps.chain, expected, 'invalid_transaction_state', evidence.gasGwei)
    }
    if (isLast) return { status: 'unknown', reason: 'not seen in a block yet', transaction: submitted.transaction }
    await deps.clock.sleep(pollMs)
  }
}

async function afterRefusal(
  chain: ChainPort,
  refusal: { reason: string; message?: string; gasGwei?: bigint },
  expected: ExpectedTransfer,
  headBlock: bigint,
): Promise<SettlementResult> {
  // A refusal is no proof: anyone may have sent the authorization.
  const byNonce = await byNonceOnly(chain, expected, headBlock)
  if (byNonce) return byNonce
  // An outage of the facilitator is not the buyer's fault, and 402 would ask the buyer to pay anew.
  if (isOutage(refusal.reason)) return { status: 'not_sent', reason: refusal.reason }
  return failedIfUnused(chain, expected, refusal.reason, refusal.gasGwei ?? 0n, refusal.message)
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

/** The nonce is used: by a transfer after our claim (ours), before it (credit), or by a cancellation (nothing moved). */
export function fromNonceEvidence(evidence: SettlementEvidence, headBlock: bigint): SettlementResult {
  if (evidence.status === 'confirmed')
    return evidence.blockNumber > headBlock
      ? { status: 'settled', evidence, feeMicro: 0n, gasGwei: 0n }
      : { status: 'spent_before', evidence }
  if (evidence.status === 'canceled')
    return {
      status: 'failed',
      reason: 'authorization_canceled',
      message: 'The payer cancelled the authorization.',
      gasGwei: 0n,
    }
  if (evidence.status === 'mismatch') return { status: 'contradicted', detail: evidence.detail }
  return {
    status: 'unknown',
    reason:
      evidence.status === 'could_not_read' ? evidence.reason : 'the nonce is used, its transaction was not found yet',
  }
}

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
