export {
  aggregate3Call,
  type MulticallCall,
  type MulticallResult,
  readAggregate3,
  transferCall,
} from './authorization-calls.ts'
export { bumpFees, costMicroOf, type FeeMarket, type Fees, feesFor } from './fees.ts'
export { createForgottenTransactions } from './forgotten-transactions.ts'
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
export type { SignedTransaction, UnsignedTransaction } from './transaction-bytes.ts'
export { createWalletKey, type WalletKey } from './wallet-key.ts'
export {
  type KeySource,
  requestDigest,
  SignerRefused,
  type SigningRequest,
  signerOf,
  type WalletSigner,
} from './wallet-signer.ts'
