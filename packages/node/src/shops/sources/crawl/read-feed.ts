import { toHex } from '@assay/protocol/bytes'
import { sha256 } from '@assay/till/kernel/bytes'
import { decodeText } from '../page/decode-text.ts'
import type { SourceRow } from '../register/records.ts'
import type { HostFindings } from './findings.ts'
import type { RateLimitedHost } from './rate-limited-host.ts'
import { ownAddresses, ownPages } from './same-site.ts'
import { type ListedPage, parseListing } from './sitemap.ts'

const feedsMax = 2

export type ReadFeed = {
  finding: HostFindings['feed'] & object
  pages: readonly ListedPage[]
  licences: readonly string[]
}

/** RSS or Atom that a page names; the first that can be read counts. Only pages of the same host are taken from it. */
export async function readFeed(
  source: SourceRow,
  host: RateLimitedHost,
  urls: readonly string[],
  at: () => string,
): Promise<ReadFeed | undefined> {
  let last: ReadFeed | undefined
  for (const url of ownAddresses(urls, source.origin).slice(0, feedsMax)) {
    const answer = await host.ask(url)
    if (answer.status === 'failed') continue
    const nothing = { url, sha256: undefined, checkedAt: at(), pages: 0 }
    last = { finding: { ...nothing, status: 'broken' }, pages: [], licences: [] }
    if (answer.status !== 'ok' || answer.httpStatus !== 200) continue
    const listing = parseListing(decodeText(answer.bytes, answer.headers.get('content-type')) ?? '')
    const digest = toHex(sha256(answer.bytes))
    if (listing.kind !== 'feed') {
      last.finding = { ...last.finding, sha256: digest, note: 'this is not a feed' }
      continue
    }
    const pages = ownPages(listing.pages, source.origin)
    return {
      finding: { ...nothing, status: 'present', sha256: digest, pages: pages.length },
      pages,
      licences: listing.licences,
    }
  }
  return last
}
