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
} from './cite.ts'
export {
  type CitationAttestation,
  parseAttestation,
  type VerifyAttestationOptions,
  verifyAttestation,
} from './verify-attestation.ts'
