export { type NoteKey, parseNoteKey } from '@assay/protocol/log/signed-note'
export { parseNodeAddress } from '@assay/protocol/mesh/node-address'
export { formatUsd } from '@assay/protocol/money'
export { instancePayees } from '@assay/till/compose'
export { slashBond } from '@assay/till/credit/bonds'
// --- for the operator's commands ---
export { demoAccount } from '@assay/till/devnet/accounts'
export {
  decideDispute as decidePaymentDispute,
  decideReview,
  disputeStatesOfPayments,
  findPaymentDispute,
  heldDifferences,
  listPaymentDisputes,
  listReview,
  readDisputeEvidence,
  readPaymentStatus,
  readRefund,
  requestRefund,
} from '@assay/till/internal'
export { systemClock } from '@assay/till/kernel/clock'
export { ConfigError } from '@assay/till/kernel/config-error'
export { readTextIfThere, writeDurably } from '@assay/till/kernel/durable-file'
export { createIds } from '@assay/till/kernel/ids'
export { silentLog } from '@assay/till/kernel/log'
export { silentMetrics } from '@assay/till/kernel/metrics'
export { Problem } from '@assay/till/kernel/problem'
export { systemRng } from '@assay/till/kernel/random'
export { cryptoBackend } from '@assay/till/kernel/secp256k1'
export { stderrLog } from '@assay/till/kernel/stderr-log'
export {
  balanceDifferences,
  type ExportedAccount,
  type ExportedTransaction,
  entriesOf,
  exportAccounts,
  exportTransactions,
  type LedgerEntryView,
  newestPosting,
  type OpenClearing,
  openClearing,
  type SealBreak,
  sealHead,
  type TrialBalance,
  trialBalance,
  verifySeals,
} from '@assay/till/ledger'
export {
  acceptLoss,
  approvePayout,
  listPayouts,
  listWithdrawals,
  payoutStates,
  readCustodyStatus,
  requestWithdrawal,
  unfundedPayouts,
} from '@assay/till/payouts'
export {
  createKeyring,
  type KeyChangeDeps,
  type KeyPlace,
  type Keyring,
  keyDirectory,
  privateKeyFromSeed,
  revokeKey,
  revokeTokens,
  rotateKey,
  type StatementWallet,
} from '@assay/till/signing'
export { appRole } from '@assay/till/store/app-role'
export { archivePartitions } from '@assay/till/store/archive-partitions'
export { verifyAudit, writeAudit } from '@assay/till/store/audit-log'
export { takeBackup } from '@assay/till/store/backup/take-backup'
export { changePayees } from '@assay/till/store/change-payees'
export { connectClient } from '@assay/till/store/connection'
export type { Database, Sql } from '@assay/till/store/database'
export { readNote, runEmbedded } from '@assay/till/store/embedded/run-embedded'
export { erasePersonalData, NotErasable } from '@assay/till/store/erase-personal-data'
export { StoreError } from '@assay/till/store/errors'
export { setOperatorAccess } from '@assay/till/store/operator-access'
export { describePauses, readPauses, setPause } from '@assay/till/store/pauses'
export { createDatabase } from '@assay/till/store/pool'
export { payeesOf } from './compose/shops.ts'
export { openSigningKeyPlaces, type SigningKeys } from './compose/wallet-keys.ts'
export type { Config } from './config/load-config.ts'
export { describeRevenue, readRevenue } from './faces/console/read-revenue.ts'
export { runNode } from './main.ts'
export { type NodeOptions, type RunningNode, startNode } from './node.ts'
export { blockTarget, readDeliveryStatus, retryDead } from './notifications/operate.ts'
export { logEntryTypes, parseConfig } from './shop-list.ts'
export { createWitness, parseLogSettings, type SeenTree, statementLog, type WitnessStore } from './tlog/index.ts'
export {
  newestCheckpoint,
  openLogCopy,
  planRepair,
  RepairImpossible,
  readEvidence,
  readLogKeys,
  readOutsideHeads,
  readTree,
  readWitnessKeys,
  reasonNotToSign,
  resumeLog,
  rewriteLog,
  startNewOrigin,
} from './tlog/repair/index.ts'
