export { type CreditRating, type RatingVerification, verifyRating } from '@assay/protocol/rating'
export {
  type Agent,
  type AgentCapability,
  type AgentDeclaration,
  type AgentSearch,
  type AgentServiceType,
  type AgentSigner,
  type AgentSummary,
  deactivateAgent,
  declareCapabilities,
  didOfWallet,
  publishDeclaration,
  readAgent,
  readAgentHistory,
  revokeCapabilities,
  searchAgents,
} from './agents.ts'
export {
  type DidDocument,
  type DidError,
  type DidResolution,
  type ResolveOptions,
  resolveDid,
} from './resolve-did.ts'
