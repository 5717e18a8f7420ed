import type { SourceId } from '../sources/source.ts'
import type { Feed } from './feed.ts'

/** Everything a feed may read, beside its own sources those that symbols get their names, kinds and splits from. */
export const feedSources = (feed: Feed): ReadonlySet<SourceId> =>
  new Set([...feed.needs, ...feed.uses, 'nasdaq-directory', 'sec-tickers', 'actions'])
