export { addressesNamed } from './addresses-named.ts'
export { checkAccountSignature } from './check-account-signature.ts'
export {
  type CheckContractSignature,
  type ContractSignature,
  type ContractSignatureOptions,
  createContractSignatureChecker,
  type SignatureRpc,
} from './contract-signature.ts'
export { isCoveredOrUnsigned } from './covers-header.ts'
export {
  type AuthChallengeAnswer,
  authChallengeAnswer,
  authChallengeBody,
  createAuthChallenge,
  createChallenge,
  type SiwxChallenge,
} from './create-auth-challenge.ts'
export { createNonceIssuer, type NonceIssuer } from './nonces.ts'
export { personalMessageDigest } from './personal-message.ts'
export type { ClaimNonce, ProofDeps, RequestProofDeps } from './proof-deps.ts'
export { createSession, type SessionDeps, sessionAnswer, sessionTokenType, verifySession } from './sessions.ts'
export { loadSharedSecret } from './shared-secret.ts'
export { acceptSignature, type SignedRequest, verifySignedRequest } from './verify-signed-request.ts'
export { verifySiwx } from './verify-siwx.ts'
export { type Statement, statementTypedData, verifyStatement } from './verify-statement.ts'
