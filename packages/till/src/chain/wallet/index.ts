export {
  aggregate3Call,
  type MulticallCall,
  type MulticallResult,
  readAggregate3,
  transferCall,
} from './authorization-calls.ts'
export { bumpFees, costMicroOf, type FeeMarket, type Fees, feesFor } from './fees.ts'
export type { LaneHolder } from './lane-lease.ts'
export type { NotSentReason, OutgoingCall, SendResult, TransactionOutcome, WalletLimits } from './lane-state.ts'
export { authorizationKey, type TransactionReceipt, usedAuthorizations } from './receipt.ts'
export {
  createSettlementWallets,
  defaultWalletLimits,
  type LaneRecovery,
  type SettlementWallets,
  type SettlementWalletsOptions,
} from './settlement-wallets.ts'
export { createWalletKey, type SignedTransaction, type UnsignedTransaction, type WalletKey } from './wallet-key.ts'
