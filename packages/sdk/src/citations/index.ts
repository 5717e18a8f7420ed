export { type CitationAttestation, parseAttestation } from './attestation-file.ts'
export { awaitWitnesses, witnessesOf } from './await-witnesses.ts'
export {
  type AttestCitation,
  anchorClaim,
  attestCitation,
  type CitationResult,
  type Creator,
  type Remittance,
  type RoyaltyInfo,
  readAttestation,
  readCreator,
  remitRoyalty,
  royaltyInfo,
  setPayoutThreshold,
} from './cite.ts'
export { parseVerifyPolicy, type VerifyPolicy } from './policy.ts'
export { checkTreeHead, readLog, readTreeHead, type TransparencyLog, type WitnessedHead } from './read-log.ts'
export { type VerifyAttestationOptions, verifyAttestation } from './verify-attestation.ts'
