export { createChallenges } from './challenge.ts'
export { createClaims } from './claims.ts'
export {
  arrivedInGap,
  type CreditBalance,
  creditLines,
  heldDifferences,
  lockCredit,
  openPayments,
  readCredit,
  topUpRoutes,
} from './credit-balance.ts'
export { type CreditCaller, type CreditDeps, createCreditEntitlement } from './credit-entitlement.ts'
export { type MandateTerms, mandateIdPattern, matchesRoute, namedMandate } from './credit-mandate.ts'
export { creditPayment, failBooked } from './credit-payment.ts'
export { type CreditPolicy, parseCreditPolicy } from './credit-policy.ts'
export { type CreditRefund, refundCredit, requireNoneUnderWay } from './credit-refund.ts'
export { mandateHeader } from './credit-terms.ts'
export { creditUndelivered } from './credit-undelivered.ts'
export { createDeliveries } from './deliveries.ts'
export {
  type EntitledCall,
  earlierCall,
  endHold,
  expiredHolds,
  idempotencyKey,
  insertHold,
  keepAnswer,
  keyWithin,
  type NewHold,
  wasCaptured,
} from './entitled-calls.ts'
export { createExposure, type Exposure } from './exposure.ts'
export type { Facilitator, FacilitatorPayment, SettleOutcome, VerifyOutcome } from './facilitators/port.ts'
export { createFinishSales, type FinishSales, SaleImpossible } from './finish-sale.ts'
export { forgetIdle } from './forget-idle.ts'
export { createGate } from './gate.ts'
export { defaultGateLimits, type GateDeps, type GateLimits } from './gate-deps.ts'
export { createLooseEnds } from './loose-ends.ts'
export { createLosses, defaultLossLimits } from './losses.ts'
export { createOffers, type JwsPort } from './offers.ts'
export { type OwnAddresses, ownAddresses, recordOwnAddresses } from './own-addresses.ts'
export { type Owner, registerOwner } from './owner.ts'
export type {
  AnswerContent,
  Attribution,
  Capture,
  CommitMany,
  Consumption,
  EntitlementPort,
  Gate,
  GateOutcome,
  HeldDraw,
  HoldOutcome,
  PaidCall,
  PaidRoute,
  PreparedAnswer,
  ReleaseAnswer,
  ReversalHook,
  ReversedPart,
  Sale,
  SaleHook,
} from './paid-call.ts'
export { type PaymentStatus, readPaymentStatus } from './payment-status.ts'
export { type ReconcileDeps, type ReconciledAddress, type ReconcileReport, reconcileBooks } from './reconcile.ts'
export { findDeadOwners, type RecoverDeps, recoverPayments, repairFlights } from './recover.ts'
export {
  carryOutRefunds,
  type RefundDeps,
  type RefundRequest,
  type RefundRequestOutcome,
  type RefundStatus,
  readRefund,
  requestRefund,
} from './refund-payment.ts'
export { gasPosting } from './sale-postings.ts'
export { maxTimeoutSeconds, type Payees, payeeAddress, termsFor, toRequirements } from './terms.ts'
export { type FinalityDeps, watchFinality } from './watch-finality.ts'
