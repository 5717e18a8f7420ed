export { type CitationAttestation, parseAttestation } from '@assay/protocol/evidence/attestation-file'
export { parseVerifyPolicy, type VerifyPolicy } from '@assay/protocol/evidence/policy'
export { checkPromisedLeaf } from '@assay/protocol/evidence/promised-leaf'
export { type VerifyAttestationOptions, verifyAttestation } from '@assay/protocol/evidence/verify-attestation'
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
  remitRoyalty,
  royaltyInfo,
  setPayoutThreshold,
} from './cite.ts'
export { checkTreeHead, readLog, readTreeHead, type TransparencyLog, type WitnessedHead } from './read-log.ts'
