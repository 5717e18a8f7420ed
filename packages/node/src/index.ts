export {
  admitSource,
  createWitness,
  decideDispute,
  disputeStates,
  evaluateScores,
  listDisputes,
  loadRanks,
  loadSeeds,
  type NoteKey,
  parseMarketSettings,
  parseNoteKey,
  refuseSource,
  type SeenTree,
  type WitnessStore,
} from './citations/index.ts'
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
} from './citations/log/repair/index.ts'
export { instancePayees } from './compose/ground.ts'
export { type Config, ConfigError, environmentSchema, parseConfig } from './config.ts'
// --- for the operator's commands ---
export { demoAccount } from './devnet/accounts.ts'
export { slashBond } from './identity/bonds/index.ts'
export { systemClock } from './kernel/clock.ts'
export { silentLog } from './kernel/log.ts'
export { silentMetrics } from './kernel/metrics.ts'
export { formatUsd } from './kernel/money.ts'
export { Problem } from './kernel/problem.ts'
export { systemRng } from './kernel/random.ts'
export { cryptoBackend } from './kernel/secp256k1.ts'
export {
  balanceDifferences,
  entriesOf,
  type LedgerEntryView,
  type OpenClearing,
  openClearing,
  type SealBreak,
  sealHead,
  type TrialBalance,
  trialBalance,
  verifySeals,
} from './ledger/index.ts'
export { runNode } from './main.ts'
export {
  createSymbolBook,
  fetchDue,
  fetchFile,
  type IngestOutcome,
  ingestFile,
  officialOutbound,
  sources as marketDataSources,
} from './matrix/index.ts'
export { addSeed, findPeer, parseNodeAddress } from './mesh/index.ts'
export { type NodeOptions, type RunningNode, startNode } from './node.ts'
export { heldDifferences, readRefund, requestRefund } from './payments/index.ts'
export { acceptLoss, approvePayout, listPayouts, payoutStates, unfundedPayouts } from './payouts/index.ts'
export {
  createKeyring,
  type KeyChangeDeps,
  type Keyring,
  keyDirectory,
  privateKeyFromSeed,
  revokeKey,
  revokeTokens,
  rotateKey,
  type StatementWallet,
} from './signing/index.ts'
export { appRole } from './store/app-role.ts'
export { verifyAudit, writeAudit } from './store/audit-log.ts'
export { takeBackup } from './store/backup/take-backup.ts'
export { changePayees } from './store/change-payees.ts'
export { connectClient } from './store/connection.ts'
export type { Database, Sql } from './store/database.ts'
export { readNote, runEmbedded } from './store/embedded/run-embedded.ts'
export { StoreError } from './store/errors.ts'
export { readSwitches, type SwitchName, setSwitch, switchNames } from './store/kill-switches.ts'
export { createDatabase } from './store/pool.ts'
export { listSubscriptions } from './subscriptions/index.ts'
