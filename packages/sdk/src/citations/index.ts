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
export { checkTreeHead, readLog, readTreeHead, type TransparencyLog, type WitnessedHead } from './read-log.ts'
export {
  type CitationAttestation,
  parseAttestation,
  type VerifyAttestationOptions,
  verifyAttestation,
} from './verify-attestation.ts'
