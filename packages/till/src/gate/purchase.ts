import type { ChainPort } from '../chain/index.ts'
import type { PaidCall } from '../contract/paid-call.ts'
import type { Scheme, SchemePayment, VerifiedPayment } from '../contract/scheme.ts'

/** A payment and the call it came with, as far as an earlier one is compared with it. */
export type Presented = {
  call: PaidCall
  scheme: Scheme
  payment: SchemePayment
  fingerprint: Buffer
  /** Null where the buyer gave the purchase no name. */
  identifierHash: Buffer | null
}

/** One payment for one call, checked against our own terms and worth a claim. */
export type Purchase = Presented & VerifiedPayment & { chain: ChainPort }

/** What an earlier claim of the same payment, or of the same name, is found by. */
export const keyOf = ({ payment: { network, payer, paymentKey }, identifierHash }: Presented) => ({
  network,
  payer,
  paymentKey,
  identifierHash,
})
