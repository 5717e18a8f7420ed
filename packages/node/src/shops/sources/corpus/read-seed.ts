import { ownAddress } from '../crawl/same-site.ts'

/** What an operator names: a whole site, a list of its pages (sitemap or feed), or one page. */
export type Seed = { kind: 'domain'; domain: string } | { kind: 'listing' | 'page'; domain: string; url: string }

const listing = /(?:\.(?:xml|rss|atom|txt)(?:\.gz)?|\/(?:feed|rss|atom)\/?)$/i

/** Undefined for what is neither a domain nor an http(s) address. A site is named without its `www`. */
export function readSeed(text: string, as?: 'listing' | 'page'): Seed | undefined {
  const typed = text.trim()
  if (typed === '' || typed.length > 2_048 || /\s/.test(typed)) return undefined
  if (!/^https?:\/\//i.test(typed))
    return /^[^/:@?#,;"]+\.[^/:@?#,;"]+$/.test(typed)
      ? { kind: 'domain', domain: withoutWww(typed.toLowerCase()) }
      : undefined
  if (!URL.canParse(typed)) return undefined
  const { hostname, pathname, search } = new URL(typed)
  const domain = withoutWww(hostname)
  if (as === undefined && pathname === '/' && search === '') return { kind: 'domain', domain }
  const url = ownAddress(typed, `https://${domain}`)
  if (url === undefined) return undefined
  return { kind: as ?? (listing.test(pathname) ? 'listing' : 'page'), domain, url }
}

const withoutWww = (host: string) => (/^www\.[^.]+\./.test(host) ? host.slice(4) : host)

/** Addresses or domains, one a line; `#` begins a comment, and of a CSV the first column that is one counts. */
export function readSeedLines(text: string): { seeds: Seed[]; skipped: number } {
  const seeds: Seed[] = []
  let skipped = 0
  for (const raw of text.replace(/^\ufeff/, '').split(/\r?\n/)) {
    const line = raw.trim()
    if (line === '' || line.startsWith('#')) continue
    const found = [line, ...line.split(/[,;\t]/)].flatMap((cell) => readSeed(cell.replace(/^"|"$/g, '')) ?? [])[0]
    if (found) seeds.push(found)
    else skipped += 1
  }
  return { seeds, skipped }
}
