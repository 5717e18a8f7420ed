// What the node of the same version uses beside the entry points that are named after folders. May change in any release.
export { mandateHeader } from './contract/credit-terms.ts'
export { asRefusal } from './contract/entitlement.ts'
export type { JwsPort } from './contract/offers.ts'
export type { Attribution, Gate, GateOutcome, PaidRoute, PreparedAnswer, ReleaseAnswer } from './contract/paid-call.ts'
export { maxTimeoutSeconds, type Payees, payeeAddress } from './contract/terms.ts'
export { arrivedInGap, creditLines, heldDifferences, readCredit } from './credit/credit-balance.ts'
export { type CreditCaller, createCreditEntitlement } from './credit/credit-entitlement.ts'
export { mandateIdPattern, namedMandate } from './credit/credit-mandate.ts'
export { type CreditPolicy, parseCreditPolicy } from './credit/credit-policy.ts'
export { type CreditRefund, refundCredit, requireNoneInProgress } from './credit/credit-refund.ts'
export { createCreditScheme } from './credit/credit-scheme.ts'
export { drawCredit, mandateFor } from './credit/draw-credit.ts'
export {
  earlierCall,
  endHold,
  endOfHold,
  expiredHolds,
  idempotencyKey,
  insertHold,
  keyWithin,
} from './credit/entitled-calls.ts'
export { SaleImpossible } from './gate/finish-sale.ts'
export { defaultGateLimits } from './gate/gate-deps.ts'
export { readPaymentStatus } from './gate/payment-status.ts'
export { gasPosting } from './gate/sale-postings.ts'
export { type SettledPayment, settledPayments } from './gate/settled-payments.ts'
export { decideReview } from './recovery/decide-review.ts'
export { countReview, listReview } from './recovery/review-queue.ts'
export {
  decideDispute,
  disputeLimits,
  disputeStatesOfPayments,
  type Evidence,
  findPaymentDispute,
  listPaymentDisputes,
  type OpenDisputeOutcome,
  openDispute,
  type PaymentDispute,
  readDisputeEvidence,
} from './refunds/dispute-payment.ts'
export { executeRefunds, readRefund, requestRefund } from './refunds/refund-payment.ts'
export { exactRequirements } from './schemes/exact/index.ts'
