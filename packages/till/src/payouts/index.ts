export { type ApproveOutcome, approvePayout } from './approve-payout.ts'
export { recentMs } from './collect-due.ts'
export { type CreateOutcome, createPayout, type NewPayout } from './create-payout.ts'
export { creditRefundPurpose, creditRefundPurposes, payToRefundPurpose } from './credit-refund-purposes.ts'
export { type CustodyKey, createCustodyKey } from './custody-key.ts'
export {
  booksHaveBegun,
  type FinalBalance,
  lockSpare,
  readCustodyFacts,
  readFinalBalance,
  spareMicro,
} from './custody-money.ts'
export { type ExplainDeps, explainPayout } from './explain-payout.ts'
export { freeCustody } from './free-custody.ts'
export { type PayoutIdentity, payoutNonce, refundAccount } from './identity.ts'
export { type Payout, type PayoutState, payoutStates } from './payout-record.ts'
export { type PayoutPolicy, parsePayoutPolicy } from './policy.ts'
export { postGas } from './post-gas.ts'
export { type PaidTransfer, takePaidTransfer } from './post-paid.ts'
export { type PayoutPurpose, prepareDue, withdrawalPurpose } from './purposes.ts'
export { listPayouts, type PayoutView, payoutsOf, unfundedPayouts } from './read-payouts.ts'
export { requestWithdrawal, type WithdrawalRequest, type WithdrawalRequestOutcome } from './request-withdrawal.ts'
export { mayPayOut, type PayoutChain, type PayoutDeps, payoutsDueSql, runPayouts } from './run-payouts.ts'
export { runWithdrawals, withdrawalsDueSql } from './run-withdrawals.ts'
export {
  type AcceptLossOutcome,
  acceptLoss,
  type CustodyDifference,
  payoutsStopped,
  recordDifference,
  resumePayouts,
  stopPayouts,
} from './stop-payouts.ts'
export { watchPayouts } from './watch-payouts.ts'
export { recordDestinations, type WithdrawPolicy } from './withdraw-policy.ts'
export { type CustodyStatus, listWithdrawals, readCustodyStatus, type Withdrawal } from './withdrawal-status.ts'
