import type { SettlementEvidence } from '../chain/index.ts'
import { decideUsedKey } from './settlement-outcome.ts'
import type { SettlementResult } from './settlement-result.ts'

/** Marks an unknown payment that was refused after its payload had left this process. */
export const refusedPrefix = 'refused:'

/** When the head is this far past the expiry, a refused payment that is unused has failed; no reorganisation is deeper. */
const refusedMarginSeconds = 60n

export const hasExpired = (timestamp: number, validBefore: bigint): boolean => BigInt(timestamp) > validBefore

export type UnknownPayment = {
  headBlock: bigint
  validBefore: bigint
  transaction: string | null
  reason: string | null
}

/** What the chain shows of an unknown payment; what is undefined was not read yet. */
export type UnknownFacts = {
  /** The transaction that was reported for it. */
  byTransaction?: SettlementEvidence
  /** Whether its key is used at the latest block, and what for. */
  used?: boolean
  byKey?: SettlementEvidence
  /** The newest block, and whether the key is used at that very block. */
  headTime?: number
  usedAtHead?: boolean
  finalTime?: number
  usedAtFinal?: boolean
}

export type NeededFact = { status: 'need'; fact: keyof UnknownFacts }
const need = (fact: keyof UnknownFacts): NeededFact => ({ status: 'need', fact })

/** Only chain evidence ends the unknown state: the transfer, another use of the key, or its time passed at a final block. */
export function resolveUnknown(
  payment: UnknownPayment,
  facts: UnknownFacts,
  reasons: { expired: string },
): SettlementResult | NeededFact {
  if (payment.transaction !== null) {
    if (facts.byTransaction === undefined) return need('byTransaction')
    if (facts.byTransaction.status === 'confirmed')
      return { status: 'settled', evidence: facts.byTransaction, feeMicro: 0n, gasGwei: 0n }
  }
  if (facts.used === undefined) return need('used')
  if (facts.used) return facts.byKey === undefined ? need('byKey') : decideUsedKey(facts.byKey, payment.headBlock)
  return decideRefused(payment, facts) ?? decideUnused(payment, facts, reasons)
}

function decideRefused(payment: UnknownPayment, facts: UnknownFacts): SettlementResult | NeededFact | undefined {
  if (!payment.reason?.startsWith(refusedPrefix)) return undefined
  if (facts.headTime === undefined) return need('headTime')
  if (!hasExpired(facts.headTime, payment.validBefore + refusedMarginSeconds)) return undefined
  if (facts.usedAtHead === undefined) return need('usedAtHead')
  if (facts.usedAtHead) return undefined
  return { status: 'failed', reason: payment.reason.slice(refusedPrefix.length), gasGwei: 0n }
}

function decideUnused(
  payment: UnknownPayment,
  facts: UnknownFacts,
  reasons: { expired: string },
): SettlementResult | NeededFact {
  if (facts.finalTime === undefined) return need('finalTime')
  if (!hasExpired(facts.finalTime, payment.validBefore))
    return { status: 'unknown', reason: 'its time has not passed at a final block' }
  // Read again at that very block, which is past its time: unused there means it never can be used. Another endpoint may
  // call an earlier block final, so the block is named.
  if (facts.usedAtFinal === undefined) return need('usedAtFinal')
  if (facts.usedAtFinal) return { status: 'unknown', reason: 'the payment was used meanwhile' }
  return { status: 'failed', reason: reasons.expired, gasGwei: 0n }
}
