export { auditEpoch, type EpochAudit, type ReadChainRoot } from './audit-epoch.ts'
export { awaitWitnesses, witnessesOf } from './await-witnesses.ts'
export {
  type AttestCitation,
  anchorClaim,
  askCreatorMove,
  attestCitation,
  type CitationResult,
  type Creator,
  type CreatorMove,
  type Remittance,
  type RoyaltyInfo,
  readAttestation,
  readCreator,
  readEarnings,
  remitRoyalty,
  royaltyInfo,
  setPayoutThreshold,
} from './cite.ts'
export { checkTreeHead, readLog, readTreeHead, type TransparencyLog, type WitnessedHead } from './read-log.ts'
