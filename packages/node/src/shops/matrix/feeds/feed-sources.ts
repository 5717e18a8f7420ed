import type { SourceId } from '../sources/source.ts'
import type { Feed } from './feed.ts'

/** Everything a feed may read, beside its own sources the two that symbols get their names and kinds from. */
export const feedSources = (feed: Feed): ReadonlySet<SourceId> =>
  new Set([...feed.needs, ...feed.uses, 'nasdaq-directory', 'sec-tickers'])
