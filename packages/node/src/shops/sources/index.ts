export {
  type AddedSeeds,
  type CorpusStatus,
  type ImportedArchive,
  openCorpus,
  readSeed,
  readSeedLines,
  type Seed,
} from './corpus/index.ts'
export { createMayRead, type MayRead } from './crawl/may-read.ts'
export type { SourceDeps } from './deps.ts'
export { matchSuffix } from './domain/public-suffix.ts'
export {
  sourcesMigrations,
  sourcesPort,
  sourcesShop,
} from './open-shop.ts'
export { type PageAt, siteTerms } from './pages/page-prices.ts'
export { decidePrices } from './pages/page-terms.ts'
export { sourceProblems } from './problems.ts'
export {
  decideDispute,
  disputeStates,
  listDisputes,
} from './register/decide-dispute.ts'
export { findSource } from './register/records.ts'
export { admitSource, refuseSource } from './register/refuse-source.ts'
export { requireSource } from './register/register-source.ts'
export { claimOfWallet, verifySource } from './register/verify-source.ts'
export { domainInput, walletInput } from './schemas.ts'
export { aggregateCitations, reaggregateAll } from './score/aggregate-citations.ts'
export { evaluateScores } from './score/evaluate-scores.ts'
export { loadRanks, loadSeeds } from './score/load-inputs.ts'
export { citationMicro, contentMicroMin, priceMicroMax } from './terms/creator-rules.ts'
