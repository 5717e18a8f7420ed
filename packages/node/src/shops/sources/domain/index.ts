export { type CanonicalDomain, canonicalDomain, type DomainRules } from './canonical-domain.ts'
export { pageAddress } from './page-address.ts'
