export { formatUsd, parseUsd } from '@assay/protocol/money'
export { type BindingParts, bindingContentType, bindingNonce, bindingTag } from '@assay/protocol/request-binding'
export {
  type AnswerOf,
  askSigned,
  callOperation,
  type OperationId,
  type OperationOptions,
  type OperationResult,
  type Signer,
} from './call-operation.ts'
export * from './citations/index.ts'
export * from './commerce/index.ts'
export * from './credit/index.ts'
export { type Demo, type DemoAccount, readDemo, readDemoNetworks } from './demo.ts'
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
export { openSession, type Session } from './open-session.ts'
export { type Operations, operations } from './operations.generated.ts'
export * from './options/index.ts'
export { packEvidence } from './pack-evidence.ts'
export * from './pay.ts'
export {
  readChallenge,
  requestChallenge,
  type SignInChallenge,
  type SignInOptions,
  signIn,
  signInHeader,
} from './sign-in.ts'
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
  readSourceTerms,
  registerSource,
  ruleInput,
  type Source,
  type SourceClaim,
  type SourceRules,
  type SourceState,
  type SourceSummary,
  type SourceTerms,
  setSourceTerms,
  verifySource,
} from './sources.ts'
export { askOver } from './tokens/ask-chain.ts'
export {
  buyTokenReport,
  checkToken,
  checkTokens,
  diffToken,
  type ReportFormat,
  type TokenBatch,
  type TokenCapability,
  type TokenCheck,
  type TokenDiff,
  type TokenList,
  type TokenParty,
  type TokenPower,
  type TokenVerdict,
} from './tokens/check-token.ts'
export { type AskChain, ProveError, type ProveOptions, proveReport } from './tokens/prove-report.ts'
export * from './verify.ts'
