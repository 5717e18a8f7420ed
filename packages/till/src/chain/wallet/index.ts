export {
  aggregate3Call,
  type MulticallCall,
  type MulticallResult,
  readAggregate3,
  transferCall,
} from './authorization-calls.ts'
export { bumpFees, costMicroOf, type FeeMarket, type Fees, feesFor } from './fees.ts'
export type {
  NotSentReason,
  OutgoingCall,
  SendResult,
  TransactionOutcome,
  WalletLimits,
} from './leased-wallet-state.ts'
export { createMissingTransactionCheck } from './missing-transactions.ts'
export { authorizationKey, type TransactionReceipt, usedAuthorizations } from './receipt.ts'
export {
  createSettlementWallets,
  defaultWalletLimits,
  type SettlementWallets,
  type SettlementWalletsOptions,
  type WalletRecovery,
} from './settlement-wallets.ts'
export type { SignedTransaction, UnsignedTransaction } from './transaction-bytes.ts'
export { unfinishedSql } from './transaction-store.ts'
export { createWalletKey, type WalletKey } from './wallet-key.ts'
export type { WalletHolder } from './wallet-lease.ts'
export {
  type KeySource,
  requestDigest,
  SignerRefused,
  type SigningRequest,
  signerOf,
  type WalletSigner,
} from './wallet-signer.ts'
