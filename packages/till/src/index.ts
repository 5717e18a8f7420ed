export { mandateHeader } from './contract/credit-terms.ts'
export type { EntitlementPort, HeldCall, Hold, HoldOutcome } from './contract/entitlement.ts'
export type { Facilitator, FacilitatorPayment, SettleOutcome, VerifyOutcome } from './contract/facilitator.ts'
export { createOffers, type JwsPort } from './contract/offers.ts'
export type {
  AnswerContent,
  Attribution,
  CommitMany,
  Consumption,
  Gate,
  GateOutcome,
  PaidCall,
  PaidRoute,
  PreparedAnswer,
  ReleaseAnswer,
  ReversalHook,
  ReversedPart,
  Sale,
  SaleHook,
} from './contract/paid-call.ts'
export type { Scheme, Schemes } from './contract/scheme.ts'
export { maxTimeoutSeconds, type Payees, payeeAddress, termsFor } from './contract/terms.ts'
export { createTill } from './create-till.ts'
export {
  arrivedInGap,
  type CreditBalance,
  creditLines,
  heldDifferences,
  lockCredit,
  openPayments,
  readCredit,
  topUpRoutes,
} from './credit/credit-balance.ts'
export { type CreditCaller, type CreditDeps, createCreditEntitlement } from './credit/credit-entitlement.ts'
export { type MandateTerms, mandateIdPattern, matchesRoute, namedMandate } from './credit/credit-mandate.ts'
export { type CreditPolicy, parseCreditPolicy } from './credit/credit-policy.ts'
export { type CreditRefund, refundCredit, requireNoneUnderWay } from './credit/credit-refund.ts'
export {
  type EntitledCall,
  earlierCall,
  endHold,
  endOfHold,
  expiredHolds,
  idempotencyKey,
  insertHold,
  keyWithin,
  type NewHold,
} from './entitlements/entitled-calls.ts'
export { cdp, http, local } from './facilitator-options.ts'
export { createClaims } from './gate/claims.ts'
export { creditPayment, failBooked } from './gate/credit-payment.ts'
export { createDeferredTransitions } from './gate/deferred-transitions.ts'
export { createDeliveries } from './gate/deliveries.ts'
export { createExposure, type Exposure } from './gate/exposure.ts'
export { createFinishSales, type FinishSales, SaleImpossible } from './gate/finish-sale.ts'
export { createGate } from './gate/gate.ts'
export { defaultGateLimits, type GateDeps, type GateLimits } from './gate/gate-deps.ts'
export { createLosses, defaultLossLimits } from './gate/losses.ts'
export { type Owner, registerOwner } from './gate/owner.ts'
export { type PaymentStatus, readPaymentStatus } from './gate/payment-status.ts'
export { gasPosting } from './gate/sale-postings.ts'
export { type SettledPayment, settledPayments } from './gate/settled-payments.ts'
export { ConfigError } from './kernel/config-error.ts'
export { Problem } from './kernel/problem.ts'
export { creditUndelivered } from './recovery/credit-undelivered.ts'
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
} from './recovery/dispute-payment.ts'
export { forgetIdle } from './recovery/forget-idle.ts'
export { type OwnAddresses, ownAddresses, recordOwnAddresses } from './recovery/own-addresses.ts'
export {
  type ReconcileDeps,
  type ReconciledAddress,
  type ReconcileReport,
  reconcileBooks,
} from './recovery/reconcile.ts'
export { findDeadOwners, type RecoverDeps, recoverPayments, repairInFlightCounts } from './recovery/recover.ts'
export {
  carryOutRefunds,
  type RefundDeps,
  type RefundRequest,
  type RefundRequestOutcome,
  type RefundStatus,
  readRefund,
  requestRefund,
} from './recovery/refund-payment.ts'
export { type FinalityDeps, watchFinality } from './recovery/watch-finality.ts'
export { createChallenges } from './schemes/challenge.ts'
export { createSchemes } from './schemes/create-schemes.ts'
export { createExactScheme, exactRequirements } from './schemes/exact/index.ts'
export { refusal } from './selling/finite-answer.ts'
export type { SaleCall, SaleDeclaration, SaleEffect, SaleHandler, Schema } from './selling/index.ts'
export type { SoldRoute, Till, WebCall } from './till.ts'
export type { AlarmEvent, RefundEvent, SaleEvent, TillEvents } from './till-events.ts'
export type { EmbeddedDatabase, FacilitatorOption, NetworkOption, TillOptions } from './till-options.ts'
