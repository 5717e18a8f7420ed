/** Checks of what a seller signed. Needs no wallet and, but for the keys, no network. */

export { type CitationAttestation, parseAttestation } from '@assay/protocol/evidence/attestation-file'
export { type Evidence, type EvidencePayment, parseEvidence } from '@assay/protocol/evidence/evidence-file'
export { parseVerifyPolicy, type VerifyPolicy } from '@assay/protocol/evidence/policy'
export { checkPromisedLeaf } from '@assay/protocol/evidence/promised-leaf'
export { type VerifyAttestationOptions, verifyAttestation } from '@assay/protocol/evidence/verify-attestation'
export {
  type EvidenceCheck,
  type EvidenceReport,
  type VerifyEvidenceOptions,
  verifyEvidence,
} from '@assay/protocol/evidence/verify-evidence'
export { followDirectory, type KeySet, readDirectory, type TrustedKey } from '@assay/protocol/keys/key-directory'
export { type ExpectedReceipt, type Receipt, type ReceiptVerification, verifyReceipt } from '@assay/protocol/receipt'
export {
  type ReceivedResponse,
  type SentRequest,
  type Verification,
  verifyResponse,
} from '@assay/protocol/signatures/verify-response'
export {
  type ChainProof,
  parseChainProof,
  type VerifyChainProofOptions,
  verifyChainProof,
} from '@assay/protocol/token-report/chain-proof'
export {
  parseTokenReport,
  type TokenReport,
  type VerifyTokenReportOptions,
  verifyTokenReport,
} from '@assay/protocol/token-report/verify-report'
