import type { Micro } from '@assay/protocol/money'
import { paidOtherwise } from './other-use.ts'
import { isUnsold, lostAnswerStates, type PaymentState } from './payment-state.ts'
import { answeredBefore } from './state-changes.ts'

export const inFlightPerPayerMax = 8

/** How long an answer that did not reach its buyer is kept for it; after that the money is credit. */
export const undeliveredAnswerHours = 24

/** Unique among claims: one row for an authorization, however often it was signed. A Permit2 nonce counts for all assets. */
export const claimKey = <K>(claim: { network: string; payer: string; paymentKey: K }) => ({
  network: claim.network,
  payer: claim.payer,
  key: claim.paymentKey,
})

/** Whether one more open payment fits beside those of the payer that are open. */
export function fitsBalance(
  open: { count: number; micro: Micro },
  claim: { amountMicro: Micro; balanceMicro: Micro },
): boolean {
  return open.count < inFlightPerPayerMax && open.micro + claim.amountMicro <= claim.balanceMicro
}

export type ClaimOutcome =
  | { status: 'claimed' }
  /** Another payment conflicts; which one is read separately. */
  | { status: 'conflict' }
  /** An earlier payment for the same request whose answer may have been lost. */
  | { status: 'undelivered'; paymentId: string }
  | { status: 'over_limit' }

/** What the claim statement found, in the order of its checks. */
export type ClaimFacts = { written: boolean; undelivered: string | null; isNew: boolean; fits: boolean }

export function decideClaim(found: ClaimFacts): ClaimOutcome {
  if (found.written) return { status: 'claimed' }
  if (found.undelivered !== null) return { status: 'undelivered', paymentId: found.undelivered }
  if (found.isNew && !found.fits) return { status: 'over_limit' }
  return { status: 'conflict' }
}

type Answered = { state: PaymentState; delivered: boolean; clientGone: boolean }

/** A fresh authorization for the same request asks for the answer of the earlier payment, and is never submitted. */
export function isLostAnswer(earlier: Answered, ownerAlive: boolean): boolean {
  return lostAnswerStates.includes(earlier.state) && !earlier.delivered && (earlier.clientGone || !ownerAlive)
}

type Claimed = { state: PaymentState; final: boolean; sameRequest: boolean; sameAuthorization: boolean }

/** A released payment is claimed again by the same request with the very authorization that was claimed before. */
export const mayReclaim = ({ state, final, sameRequest, sameAuthorization }: Claimed): boolean =>
  state === 'released' && !final && sameRequest && sameAuthorization

type Abandoned = { state: PaymentState; reason: string | null; sameRequest: boolean; sameAuthorization: boolean }

/** Settled again for a buyer who is back: the authorization can move money once, however often it is sent. */
export const mayResume = ({ state, reason, sameRequest, sameAuthorization }: Abandoned): boolean =>
  state === 'unknown' && reason === 'owner_gone' && sameRequest && sameAuthorization

/** A payment that can never be settled any more, or can be kept from it, before the answer of an earlier one goes out. */
export const isLeftUnsettled = ({ state, final }: { state: PaymentState; final: boolean }): boolean =>
  state === 'failed' || (state === 'released' && final)

export type Repeated = {
  state: PaymentState
  reason: string | null
  sameKey: boolean
  sameRequest: boolean
  /** The request has the secret identifier of the earlier payment. */
  knowsIdentifier: boolean
}

export type RepeatAnswer =
  | 'other_request'
  | 'identifier_conflict'
  | 'in_flight'
  | 'unknown'
  | 'waits_for_finality'
  | 'stored_answer'
  | 'used'
  /** 402, unless money reached us under its key. */
  | 'failed'
  | 'reclaim'
  | 'credited'
  | 'refunded'

/** The answer to a request whose payment key or identifier is known. */
export function answerRepeat({ state, reason, sameKey, sameRequest, knowsIdentifier }: Repeated): RepeatAnswer {
  if (!sameRequest) return sameKey ? 'other_request' : 'identifier_conflict'
  switch (state) {
    case 'claimed':
    case 'settling':
      return 'in_flight'
    case 'unknown':
      return 'unknown'
    case 'settled':
      return 'waits_for_finality'
    case 'served':
      return knowsIdentifier ? 'stored_answer' : 'used'
    case 'failed':
      return reason === answeredBefore ? 'used' : 'failed'
    case 'released':
      return 'reclaim'
    case 'credited':
      return 'credited'
    case 'refunded':
      return 'refunded'
  }
}

type RecordedUse = { recipient: `0x${string}`; postedAs: string | null; final: boolean }

/** 402 asks for money: never if the key of a payment that is over has brought some, unless a reorganisation took it away. */
export const hasReachedUs = (
  { reason }: { reason: string | null },
  transfers: readonly RecordedUse[],
  isOurs: (address: `0x${string}`) => boolean,
): boolean =>
  reason === paidOtherwise ||
  transfers.some(({ recipient, postedAs, final }) => (final || postedAs !== null) && isOurs(recipient))

/** Whether an earlier claim under the key still decides about it; what is over does not. */
export const isStillActive = (earlier: { state: PaymentState } | undefined): boolean =>
  earlier !== undefined && !isUnsold(earlier.state)
