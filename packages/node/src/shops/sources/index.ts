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
export { findSource } from './register/records.ts'
export { requireSource } from './register/register-source.ts'
export { claimOfWallet, verifySource } from './register/verify-source.ts'
export { domainInput, walletInput } from './schemas.ts'
export { aggregateCitations, reaggregateAll } from './score/aggregate-citations.ts'
export { citationMicro, contentMicroMin, priceMicroMax } from './terms/creator-rules.ts'
