export { type IndexedPage, indexedPage, pageColumns, type StoredPage } from './indexed-page.ts'
export { type PageChange, pageStoredChannel, readPageChanges } from './page-changes.ts'
export { readSourceTerms, type SourceTerms } from './source-terms.ts'
