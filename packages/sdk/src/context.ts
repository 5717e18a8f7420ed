import type { ReceiptVerification } from '@assay/protocol/receipt'
import type { Verification } from '@assay/protocol/signatures/verify-response'
import type { LocalAccount } from 'viem'
import type { CreditState } from './credit/credit-state.ts'
import { AssayError } from './errors.ts'
import type { Exchange, PreparedRequest } from './exchange.ts'
import type { KeyPins } from './key-pins.ts'
import type { ChannelRegistry } from './payment-methods/channel.ts'
import type { PaymentOutcome } from './payment-outcome.ts'
import type { Platform } from './platform.ts'
import type { OnProgress } from './progress.ts'
import type { Quote } from './quote.ts'
import type { RetryLimits } from './send-until-answered.ts'
import type { Purchase } from './sign-payment.ts'
import type { SpendingPolicy } from './spending-policy.ts'

export type AssayResult = {
  response: Response
  payment: PaymentOutcome
  /** The seller's signed receipt, checked; undefined when there is none. */
  receipt: ReceiptVerification | undefined
  verified: Verification
  /** What was sent to pay, to ask again for a lost answer. Keep it secret. */
  purchase: Purchase | undefined
}

/** Everything the steps of a purchase share. */
export type ClientContext = {
  account: LocalAccount
  platform: Platform
  policy: SpendingPolicy
  pins: KeyPins
  limits: RetryLimits
  mustVerify: boolean
  budget: Budget
  onProgress: OnProgress
  channels: ChannelRegistry
  /** Present when calls may be paid from prepaid credit. */
  credit: CreditState | undefined
  /** Asked with the quote before anything is signed. */
  confirm?: ((quote: Quote) => boolean | Promise<boolean>) | undefined
}

export type Budget = {
  /**
   * Takes the amount before anything is signed, so that concurrent purchases cannot overdraw it. Returns what gives it
   * back, for a draw that provably came to nothing.
   */
  take(micro: bigint): () => void
}

/** What the node's signature says of an exchange; throws when the policy needs it to be good. */
export async function verifyExchange(
  context: ClientContext,
  prepared: PreparedRequest,
  received: Exchange,
  result?: (verified: Verification) => Promise<AssayResult>,
): Promise<Verification> {
  const { platform, pins, mustVerify } = context
  const request = { method: prepared.method, url: prepared.url }
  // Answers of a proxy in front of a node that is down are not signed, and sell nothing.
  const enforced = mustVerify && received.status < 500
  const verified = await pins.verify(request, received).catch((error: unknown): Verification => {
    if (enforced && result === undefined) throw error
    return { status: 'invalid', reason: `could not be checked at ${new Date(platform.nowMs()).toISOString()}` }
  })
  if (!enforced || verified.status === 'verified') return verified
  const code = { unsigned: 'signature_missing', unknown_key: 'key_not_trusted', invalid: 'signature_invalid' } as const
  throw new AssayError(code[verified.status], { verified, ...(result ? { result: await result(verified) } : {}) })
}
