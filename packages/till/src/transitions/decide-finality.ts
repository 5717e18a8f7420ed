import type { SettlementEvidence } from '../chain/index.ts'
import type { PaymentState } from './payment-state.ts'
import type { Confirmed } from './settlement-result.ts'

/** A block is final if it is not above the final one and is still the block that was seen. */
export const isFinalBlock = (
  finalNumber: bigint,
  canonicalHash: string | undefined,
  seen: { blockNumber: bigint; blockHash: string },
): boolean => finalNumber >= seen.blockNumber && canonicalHash === seen.blockHash

type Paid = { state: PaymentState; blockHash: string | null }

/** What the final block at the height of a payment decides about it. */
export function decideFinality(payment: Paid, canonicalHash: string | undefined): 'final' | 'reorged' | 'wait' {
  if (canonicalHash === undefined) return 'wait'
  if (payment.blockHash !== canonicalHash) return 'reorged'
  // A held payment becomes final when its answer is given.
  return payment.state === 'settled' ? 'wait' : 'final'
}

/** Who bears a transfer that a reorganisation took: what was passed on is reversed, and what cannot be is our loss. */
export function reorgLossAccount(payment: {
  state: PaymentState
  payee: 'pay_to' | 'custody'
  revocable: boolean
}): 'clearing' | 'credit' | 'shares' | 'revenue' | 'loss' {
  if (payment.state === 'settled') return 'clearing'
  if (payment.state === 'credited') return 'credit'
  // The sale split the money among payees: each share is reversed, and a payee that has spent its share owes it.
  if (payment.payee === 'custody') return 'shares'
  return payment.revocable ? 'revenue' : 'loss'
}

/** The transfer of a payment is not in the block that was seen: it is in another one, or it is gone. */
export function decideAfterReorg(
  payment: { logPosition: number | null },
  evidence: SettlementEvidence,
): { do: 'wait' } | { do: 'move'; to: Confirmed } | { do: 'undo' } {
  if (evidence.status === 'could_not_read') return { do: 'wait' }
  if (evidence.status === 'confirmed' && evidence.position === payment.logPosition) return { do: 'move', to: evidence }
  return { do: 'undo' }
}
