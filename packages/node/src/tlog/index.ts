export { collectCosignatures, type WitnessPeer } from './collect-cosignatures.ts'
export { compareWithWitnesses } from './compare-with-witnesses.ts'
export { openDemoWitnesses } from './demo-witnesses.ts'
export { openGuard } from './guard.ts'
export { logPath } from './log-path.ts'
export { type LogProof, openLog, type TransparencyLog } from './open-log.ts'
export { openWitnesses } from './open-witnesses.ts'
export { proofAfterCommit } from './proof-after-commit.ts'
export { repairedChannel } from './repair/rewrite-log.ts'
export { type LogSettings, parseLogSettings } from './settings.ts'
export { appendToLog, entryBytesMax, leafCommitment, logOrigin, statementLog } from './store.ts'
export { createWitness, type SeenTree, type Witness, type WitnessStore } from './witness.ts'

/** Folder of the migrations that make the log's tables. */
export const logMigrations = new URL('./migrations/', import.meta.url)
