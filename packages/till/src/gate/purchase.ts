import type { ChainPort } from '../chain/index.ts'
import type { PaidCall } from '../contract/paid-call.ts'
import type { Scheme, SchemePayment, VerifiedPayment } from '../contract/scheme.ts'

/** A payment and the call it came with, as far as an earlier one is compared with it. */
export type Presented = {
  call: PaidCall
  scheme: Scheme
  payment: SchemePayment
  fingerprint: Buffer
  /** Null if the buyer sent no payment identifier. */
  identifierHash: Buffer | null
}

/** One payment for one call, checked against our own terms and worth a claim. */
export type Purchase = Presented & VerifiedPayment & { chain: ChainPort }

/** The keys by which an earlier claim of the same payment or identifier is found. */
export const keyOf = ({ payment: { network, payer, paymentKey }, identifierHash }: Presented) => ({
  network,
  payer,
  paymentKey,
  identifierHash,
})
