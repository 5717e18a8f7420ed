import { isOpen, type PaymentState } from './payment-state.ts'

/** A change of state. The store makes it in one guarded update: the guard is what `mayMove` says. */
export type StateChange = {
  from: readonly PaymentState[]
  to: PaymentState
  /** Who may make it: the process that claimed the payment, the one attempt to settle it, or any process. */
  by: 'owner' | 'attempt' | 'anyone'
  /** Guard: only a payment that has this reason. */
  onlyFor?: string
  /** Nothing about the payment can change any more. */
  final?: true
}

/** Marks an unknown payment whose process died while it settled. */
export const ownerGone = 'owner_gone'
/** Marks a payment that was never settled: its request got the answer of an earlier one. */
export const answeredBefore = 'answered_before'

export const moves = {
  /** The answer is stored; from here on money may move. */
  intend: { from: ['claimed'], to: 'settling', by: 'owner' },
  /** The buyer is back with the authorization that a dead process was settling. */
  resume: { from: ['unknown'], to: 'settling', by: 'anyone', onlyFor: ownerGone },
  /** The same authorization is claimed again. */
  reclaim: { from: ['released'], to: 'claimed', by: 'anyone' },
  /** Nothing was sent for the claim. */
  release: { from: ['claimed'], to: 'released', by: 'owner' },
  /** Nothing was sent in this attempt, whose intent may or may not be written. */
  withdraw: { from: ['claimed', 'settling'], to: 'released', by: 'attempt' },
  /** Money may have moved. */
  markUnknown: { from: ['settling'], to: 'unknown', by: 'attempt' },
  fail: { from: ['settling'], to: 'failed', by: 'attempt' },
  /** The payment key was used for something else, in a final block. */
  failForOtherUse: { from: ['settling'], to: 'failed', by: 'attempt', final: true },
  /** Its request gets the answer of an earlier payment: it is not claimed again. */
  answerBefore: { from: ['released'], to: 'failed', by: 'anyone' },
  /** The process is gone, before it sent anything or after it may have. */
  releaseAbandoned: { from: ['claimed'], to: 'released', by: 'anyone' },
  markAbandonedUnknown: { from: ['settling'], to: 'unknown', by: 'anyone' },
  /** Recovery: provably unused, or used for something else in a final block. */
  failUnknown: { from: ['unknown'], to: 'failed', by: 'anyone' },
  failUnknownForOtherUse: { from: ['unknown'], to: 'failed', by: 'anyone', final: true },
  /** Its transfer was posted as something else. */
  failPosted: { from: ['settling', 'unknown'], to: 'failed', by: 'anyone', final: true },
  serve: { from: ['settling', 'unknown', 'settled'], to: 'served', by: 'anyone' },
  /** Paid; the answer waits for finality. */
  hold: { from: ['settling', 'unknown'], to: 'settled', by: 'anyone' },
  /** Its money arrived and becomes credit instead of an answer. */
  credit: { from: ['settling', 'unknown', 'settled', 'failed', 'released'], to: 'credited', by: 'anyone' },
  /** Held before a restore, and its effect cannot be had: it may have been delivered after the backup. */
  setAside: { from: ['settled'], to: 'failed', by: 'anyone', final: true },
  creditUndelivered: { from: ['served'], to: 'credited', by: 'anyone' },
  /** A reorganisation took its transfer. */
  undo: { from: ['settled', 'served', 'credited'], to: 'unknown', by: 'anyone' },
} as const satisfies Record<string, StateChange>

export type Worker = { owner: bigint; attempt?: number }
type Row = { state: PaymentState; owner: bigint; attempt: number | null; reason: string | null }

/** Whether the guarded update of a move changes this row. */
export function mayMove(move: StateChange, row: Row, worker?: Worker): boolean {
  if (!move.from.includes(row.state)) return false
  if (move.onlyFor !== undefined && row.reason !== move.onlyFor) return false
  if (move.by === 'anyone') return true
  if (row.owner !== worker?.owner) return false
  return move.by === 'owner' || row.state !== 'settling' || row.attempt === worker.attempt
}

/** How a move changes the number of payments that count against the balance of the payer. */
export const inFlightChange = (was: PaymentState, to: PaymentState): -1 | 0 | 1 =>
  isOpen(was) === isOpen(to) ? 0 : isOpen(to) ? 1 : -1
