import type { Micro } from '@assay/protocol/money'
import type { SettlementEvidence } from '../chain/index.ts'
import { paidOtherwise } from './other-use.ts'
import { hasExpired } from './resolve-unknown.ts'
import type { Confirmed, SettlementResult } from './settlement-result.ts'
import { moves, ownerGone, type StateChange } from './state-changes.ts'

/** Nobody works on the payment any more. Before its intent nothing was sent for it. */
export function decideAbandoned(state: 'claimed' | 'settling'): { move: StateChange; reason: string } {
  return { move: state === 'settling' ? moves.markAbandonedUnknown : moves.releaseAbandoned, reason: ownerGone }
}

export type Resolution =
  | { do: 'finish'; evidence: Confirmed }
  | { do: 'credit'; evidence: Confirmed }
  | { do: 'end'; move: StateChange; reason: string }
  /** The chain near the claim shows nothing: the rows of recorded transfers decide. */
  | { do: 'read_rows' }
  | { do: 'wait' }

/** What the verdict of the chain means for an unknown payment. `other` is set when the key was used for something else. */
export function decideUnknown(verdict: SettlementResult, other?: { final: boolean; reason: string }): Resolution {
  switch (verdict.status) {
    case 'settled':
      return { do: 'finish', evidence: verdict.evidence }
    case 'spent_before':
      return { do: 'credit', evidence: verdict.evidence }
    case 'failed':
      return { do: 'end', move: moves.failUnknown, reason: verdict.reason }
    case 'used_otherwise':
      return other?.final ? { do: 'end', move: moves.failUnknownForOtherUse, reason: other.reason } : { do: 'wait' }
    default:
      return { do: 'read_rows' }
  }
}

export type RecordedTransfer = {
  recipient: `0x${string}`
  amountMicro: Micro
  postedAs: string | null
  /** In a final block. One that is neither final nor posted was taken away by a reorganisation. */
  final: boolean
}

/** Until then the transfer may still be found near the claim. */
export const mayReadRows = (payment: { validBefore: bigint }, finalTime: number): boolean =>
  hasExpired(finalTime, payment.validBefore)

/**
 * Expired and used, but its use was not found on chain near the claim: it is looked up in the recorded transfers. Every
 * transfer that reached us up to that block is recorded, so nothing stays unknown for ever.
 */
export function decideByRows<T extends RecordedTransfer>(
  payment: { payTo: string; amountMicro: Micro },
  facts: { usedAndRecorded: boolean; rows: readonly T[] },
  isOurs: (address: `0x${string}`) => boolean,
  paidToOthers: { reason: string },
): { do: 'finish'; row: T } | { do: 'end'; move: StateChange; reason: string } | { do: 'wait' } {
  if (!facts.usedAndRecorded) return { do: 'wait' }
  const ours = facts.rows.filter(({ recipient, final }) => final && isOurs(recipient))
  const row = ours.find((one) => one.postedAs === null && paysExactly(payment, one))
  if (row) return { do: 'finish', row }
  const reason = ours.length > 0 ? paidOtherwise : paidToOthers.reason
  return { do: 'end', move: moves.failUnknownForOtherUse, reason }
}

/** A transfer under the key of a claim pays it only if it is the one that was quoted. */
export const paysExactly = (
  claim: { payTo: string; amountMicro: Micro },
  transfer: { recipient: string; amountMicro: Micro },
): boolean => claim.payTo === transfer.recipient && claim.amountMicro === transfer.amountMicro

/** A refused authorization whose time has passed at a final block: over for good once all that it moved is posted. */
export function decideWatched(facts: {
  usedAtFinal: boolean
  usedAndRecorded: boolean
  rows: readonly Pick<RecordedTransfer, 'postedAs' | 'final'>[]
}): 'final' | 'wait' {
  if (!facts.usedAtFinal) return 'final'
  // What reached us has its row, and is posted by it; until then no caller may read that nothing moved.
  if (!facts.usedAndRecorded) return 'wait'
  return facts.rows.some(({ postedAs, final }) => final && postedAs === null) ? 'wait' : 'final'
}

/** The answer of a held payment is released once its transfer is in a final block. */
export function decideHeld(
  finalNumber: bigint,
  evidence: SettlementEvidence,
): { do: 'finish'; evidence: Confirmed } | { do: 'wait' } {
  return evidence.status === 'confirmed' && evidence.blockNumber <= finalNumber
    ? { do: 'finish', evidence }
    : { do: 'wait' }
}

/**
 * An answer that nobody fetched within its shelf life is credit; where the sale had an effect, that is what was bought. What
 * was sold before a restore may have been delivered after the backup.
 */
export const decideUndelivered = (sale: { hasEffect: boolean; mayBeLost: boolean }): 'credit' | 'delivered' =>
  !sale.hasEffect && !sale.mayBeLost ? 'credit' : 'delivered'
