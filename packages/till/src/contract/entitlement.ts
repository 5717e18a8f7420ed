import type { Address } from '@assay/protocol/address'
import type { Micro } from '@assay/protocol/money'
import { Problem } from '../kernel/problem.ts'
import type { LedgerTransaction } from '../ledger/index.ts'
import type { Tx } from '../store/database.ts'
import type { AnswerContent, PaidCall, PaidRoute, PreparedAnswer } from './paid-call.ts'

/** What a wallet may use without paying per call: subscriptions, passes and credit. */
export type EntitlementPort = {
  /** Name in metrics. */
  name: string
  /** True when the request carries this kind of credential; no I/O. */
  claims(headers: ReadonlyMap<string, string>): boolean
  /** Sets a call aside before its answer is prepared. */
  hold(call: PaidCall): Promise<HoldOutcome>
  /** Takes held calls, in the transaction of their effects and before them. An outcome for each, in the order given. */
  capture(tx: Tx, held: readonly HeldCall[]): Promise<CaptureOutcome[]>
  /** Releases a hold, once, unless it was captured; also for holds whose process died. Undefined: what became of it is not known. */
  release(holdId: string): Promise<HoldEnd | undefined>
  /** What became of this call when it came before. Asked before its caller would have to pay again. */
  describe(call: PaidCall): Promise<HoldOutcome | undefined>
}

/** How held calls end: by an entitlement, or by a scheme that acts on the answer and stores it itself. */
export type HoldPort = Pick<EntitlementPort, 'name' | 'capture' | 'release'> &
  Partial<Pick<EntitlementPort, 'describe'>> & {
    /**
     * Once the answer is prepared, before the transaction of its capture; a Problem stops the sale. What it returns is called
     * after the commit. Absent: the response says what was drawn.
     */
    beforeCapture?(hold: Hold, prepared: PreparedAnswer): Promise<() => EntitledResponse>
    /**
     * Stores what was sold with its answers, which the effects made after the capture, in the same transaction. Absent:
     * answers of named calls are kept by their name.
     */
    keep?(tx: Tx, sold: readonly KeptSale[]): Promise<void>
  }

export type EntitledResponse = { paymentResponse: string; delivered(): void | Promise<void> }

export type HoldOutcome =
  | Hold
  /** The same named call was served before: its answer again, nothing more is used. */
  | { status: 'served'; answer: AnswerContent }
  /** Does not cover this call: the answer is a 402 with this note, and what else helps the caller choose. */
  | { status: 'not_covered'; note: string; extra?: Record<string, unknown> }
  | { status: 'refused'; problem: Problem }

export function asRefusal(error: unknown): HoldOutcome {
  if (error instanceof Problem) return { status: 'refused', problem: error }
  throw error
}

export type Hold = {
  status: 'held'
  holdId: string
  account: Address
  /** The sale is known by it where postings of the capture carry it. */
  callId?: string
  /**
   * What the capture charges once the answer is prepared, for the port alone. Nothing is set aside, for the balance
   * evidently covers the price; if it no longer does, the capture says why.
   */
  chargeAfterPrepare?: object
  /** What the capture will move; absent where no money moves, or before a charge after prepare. */
  draw?: Draw
  /**
   * Whether all of it could be paid with money in final blocks. Asked where the exposure cap is used up. Absent where no
   * reorganisation takes what pays for it.
   */
  isFinal?(): Promise<boolean>
  /** True where the call came with its own key, such as an idempotency key or a voucher: its answer is kept to be given again. */
  hasKey?: boolean
  /** The key under which a call that came without one is found again; absent where it cannot be. */
  fallbackKey?: string
}

export type KeptSale = { hold: Hold; route: PaidRoute; answer: PreparedAnswer['answer'] }

export type HeldCall = { hold: Hold; route: PaidRoute }

/** Money that a capture moved, so that the sale counts as one. Nothing moved: no sale. */
export type Capture = { network: string; amountMicro: Micro }

/** Credit that a call draws, and what is left of that balance beside it. */
export type Draw = Capture & { leftMicro: Micro }

export type CaptureOutcome =
  /** `posting`: left to the caller, to be made in the same transaction. */
  | { status: 'captured'; draw?: Draw; posting?: LedgerTransaction }
  /** The charge could not be taken; `why` returns what a hold would have returned. */
  | { status: 'not_captured'; why(): Promise<HoldOutcome> }

export type HoldEnd =
  | { status: 'captured'; draw?: Draw }
  | { status: 'released' }
  /** Not found; a commit in progress may still write it. */
  | { status: 'absent' }
