import type { Hex } from '@assay/protocol/bytes'
import type { SettlementEvidence } from '../chain/index.ts'
import { type SettlementResult, transferUse } from './settlement-result.ts'

/** What the payment key itself shows: nothing while it is unused. */
export type KeyReading = SettlementResult | undefined

/** The key is used: by our transfer after our claim (ours) or before it (credit), by another one, or by a cancellation. */
export function decideUsedKey(evidence: SettlementEvidence, headBlock: bigint): SettlementResult {
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

/**
 * A facilitator named a transaction. Our own read of it decides. While it is not seen, only our transfer under the same key
 * ends the wait, for the transaction may still be included; one that reverted is a contradiction unless the key shows
 * another use.
 */
export function decideReported(
  transaction: Hex,
  evidence: SettlementEvidence,
  byKey: KeyReading | 'not_read',
): SettlementResult | 'wait' | 'read_key' {
  if (evidence.status === 'confirmed') return { status: 'settled', evidence, feeMicro: 0n, gasGwei: 0n }
  if (byKey !== 'not_read' && byKey?.status === 'settled') return byKey
  if (evidence.status === 'used_otherwise') return { status: 'used_otherwise', use: transferUse(evidence.transfer) }
  if (evidence.status !== 'reverted') return 'wait'
  if (byKey === 'not_read') return 'read_key'
  if (byKey && byKey.status !== 'unknown') return byKey
  return { status: 'contradicted', detail: `${transaction} was reported as settled and does not carry it` }
}

export type Refusal = { reason: string; message?: string; gasGwei?: bigint; payloadSent: boolean }

/** What is known besides a refusal; what is undefined was not asked yet. */
export type RefusalFacts = {
  byKey: KeyReading
  /** The facilitator could not be reached or did not work. */
  outage: boolean
  screening: boolean
  /** Our own simulation fails for the same cause. */
  simulationConfirms?: boolean
  /** Whether the key was used when it was read once more. */
  usedSince?: boolean
}

/** A refusal is no proof: anyone may have sent the authorization, or may yet. */
export function decideRefusal(
  refusal: Refusal,
  facts: RefusalFacts,
): SettlementResult | { status: 'need'; fact: 'simulationConfirms' | 'usedSince' } {
  if (facts.byKey) return facts.byKey
  const { reason, message, gasGwei = 0n } = refusal
  // Not the buyer's fault, and 402 would ask the buyer to pay again. A facilitator that received the payload can still
  // submit it.
  if (facts.outage) return refusal.payloadSent ? { status: 'refused', reason, gasGwei } : { status: 'not_sent', reason }
  if (facts.screening) return { status: 'payer_refused', reason }
  if (refusal.payloadSent) {
    if (facts.simulationConfirms === undefined) return { status: 'need', fact: 'simulationConfirms' }
    if (!facts.simulationConfirms) return { status: 'refused', reason, gasGwei }
  }
  if (facts.usedSince === undefined) return { status: 'need', fact: 'usedSince' }
  if (facts.usedSince) return { status: 'unknown', reason: 'the payment was used meanwhile' }
  return { status: 'failed', reason, gasGwei, ...(message === undefined ? {} : { message }) }
}

/** The facilitator gave no usable answer. */
export function decideNoAnswer(outcome: { reason: string; transaction?: Hex }, byKey: KeyReading): SettlementResult {
  if (byKey && byKey.status !== 'unknown') return byKey
  const { reason, transaction } = outcome
  return { status: 'unknown', reason, ...(transaction ? { transaction } : {}) }
}
