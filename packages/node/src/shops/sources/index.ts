export { createMayRead, type MayRead } from './crawl/may-read.ts'
export type { ReadBonds, SourceDeps } from './deps.ts'
export { type CanonicalDomain, canonicalDomain } from './domain/canonical-domain.ts'
export { matchSuffix } from './domain/public-suffix.ts'
export {
  createSourceDeps,
  openSourcesShop,
  type SourcesShopOptions,
  sourcesMigrations,
  sourcesPort,
  sourcesShop,
} from './open-shop.ts'
export { normalText, textDigest } from './page/text-digest.ts'
export { type CitedSource, findCitedSource } from './pages/find-payee.ts'
export { findPage, findPageVersion, type IndexedPage, type PageVersion } from './pages/indexed-page.ts'
export { type PageChange, pageStoredChannel, readPageChanges } from './pages/page-changes.ts'
export { readSourceTerms, type SourceLicence, type SourceTerms } from './pages/source-terms.ts'
export { sourceProblems } from './problems.ts'
export {
  type DisputeDecision,
  type DisputeRow,
  decideDispute,
  disputeStates,
  listDisputes,
} from './register/decide-dispute.ts'
export { findSource } from './register/records.ts'
export { admitSource, refuseSource } from './register/refuse-source.ts'
export { requireSource } from './register/register-source.ts'
export { claimOfWallet, verifySource } from './register/verify-source.ts'
export { domainInput, walletInput } from './schemas.ts'
export { agentWeight, isSelfDealing } from './score/agent-weight.ts'
export { evaluateScores } from './score/evaluate-scores.ts'
export { foldCitations, refoldAll } from './score/fold-citations.ts'
export { loadRanks, loadSeeds } from './score/load-inputs.ts'
