export { type Evidence, type EvidencePayment, parseEvidence } from '@assay/protocol/evidence/evidence-file'
export {
  type EvidenceCheck,
  type EvidenceReport,
  type VerifyEvidenceOptions,
  verifyEvidence,
} from '@assay/protocol/evidence/verify-evidence'
export { followDirectory, type KeySet, readDirectory, type TrustedKey } from '@assay/protocol/keys/key-directory'
export { formatUsd, parseUsd } from '@assay/protocol/money'
export { type ExpectedReceipt, type Receipt, type ReceiptVerification, verifyReceipt } from '@assay/protocol/receipt'
export { type BindingParts, bindingContentType, bindingNonce, bindingTag } from '@assay/protocol/request-binding'
export {
  type ReceivedResponse,
  type SentRequest,
  type Verification,
  verifyResponse,
} from '@assay/protocol/signatures/verify-response'
export {
  parseTokenReport,
  type TokenReport,
  type VerifyTokenReportOptions,
  verifyTokenReport,
} from '@assay/protocol/token-report/verify-report'
export {
  type AnswerOf,
  callOperation,
  type OperationId,
  type OperationOptions,
  type OperationResult,
  type Signer,
} from './call-operation.ts'
export * from './citations/index.ts'
export {
  type AssayClient,
  type AssayClientOptions,
  type BuyOptions,
  createAssayClient,
  type QuoteOutcome,
} from './client.ts'
export * from './commerce/index.ts'
export type { AssayResult } from './context.ts'
export * from './credit/index.ts'
export { type Demo, type DemoAccount, isLoopbackUrl, readDemo, readDemoNetworks } from './demo.ts'
export { AssayError, type AssayErrorCode } from './errors.ts'
export * from './identity/index.ts'
export * from './intents/index.ts'
export { fetchDirectory } from './key-pins.ts'
export { type Match, type MatchedPage, type MatchRequest, matchSources } from './match.ts'
export {
  createMatrix,
  type Matrix,
  type MatrixAnswer,
  type MatrixHistory,
  type MatrixHistoryRow,
  type MatrixIndexEntry,
  type MatrixQuery,
  type MatrixRow,
  type MatrixValue,
  type MatrixVipQuery,
} from './matrix.ts'
export * from './mesh/index.ts'
export {
  baseNetwork,
  baseSepoliaNetwork,
  type PayableNetwork,
  polygonAmoyNetwork,
  polygonNetwork,
} from './networks.ts'
export { openSession, type Session } from './open-session.ts'
export { type Operations, operations } from './operations.generated.ts'
export * from './options/index.ts'
export { packEvidence } from './pack-evidence.ts'
export type { PaymentOutcome } from './payment-outcome.ts'
export { type Offer, type PaymentRequired, parsePaymentRequired } from './payment-required.ts'
export type { OnProgress, Progress } from './progress.ts'
export type { AgreedTerms, Quote } from './quote.ts'
export {
  readChallenge,
  requestChallenge,
  type SignInChallenge,
  type SignInOptions,
  signIn,
  signInHeader,
} from './sign-in.ts'
export type { Purchase } from './sign-payment.ts'
export { type SignRequestOptions, signRequest } from './sign-request.ts'
export {
  changeSourceWallet,
  type DisputeSource,
  disputeSource,
  type ListSources,
  listSources,
  type ProofInstructions,
  type RegisterSource,
  readSource,
  registerSource,
  type Source,
  type SourceClaim,
  type SourceState,
  type SourceSummary,
  verifySource,
} from './sources.ts'
export {
  buyTokenReport,
  checkToken,
  checkTokens,
  type ReportFormat,
  type TokenCapability,
  type TokenCheck,
  type TokenParty,
  type TokenPower,
  type TokenVerdict,
} from './tokens/check-token.ts'
