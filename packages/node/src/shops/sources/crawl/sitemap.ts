import { XmlRefused, xmlEvents } from './xml.ts'

export type ListedPage = { url: string; modifiedAt: string | undefined }

export type Listing =
  | { kind: 'urlset' | 'feed'; pages: readonly ListedPage[]; licences: readonly string[] }
  | { kind: 'index'; sitemaps: readonly string[] }
  | { kind: 'malformed'; detail: string }

const entriesMax = 5_000

/** Sitemaps, sitemap indexes, RSS and Atom: whatever lists pages. */
export function parseListing(text: string): Listing {
  const found: ListedPage[] = []
  const licences: string[] = []
  let root: string | undefined
  let entry: { url: string; modifiedAt: string } | undefined
  let field = ''
  try {
    for (const event of xmlEvents(text.replace(/^\ufeff/, ''))) {
      if (event.kind === 'open') {
        root ??= event.name
        if (['url', 'sitemap', 'item', 'entry'].includes(event.name)) entry = { url: '', modifiedAt: '' }
        field = event.name
        const href = event.attributes.get('href')
        const rel = event.attributes.get('rel') ?? 'alternate'
        // Atom carries addresses in attributes, and its licence as a link of that relation.
        if (event.name === 'link' && href !== undefined) {
          if (rel === 'license') licences.push(href)
          else if (entry && rel === 'alternate') entry.url = href
        }
      } else if (event.kind === 'text') {
        if (entry && (field === 'loc' || field === 'link')) entry.url += event.text
        else if (entry && ['lastmod', 'updated', 'pubdate', 'published', 'date'].includes(field))
          entry.modifiedAt += event.text
        else if (!entry && field === 'license' && licences.length < 5) licences.push(event.text.trim())
      } else {
        field = ''
        if (entry && ['url', 'sitemap', 'item', 'entry'].includes(event.name)) {
          const page = listed(entry)
          if (page) found.push(page)
          entry = undefined
          if (found.length >= entriesMax) break
        }
      }
    }
  } catch (error) {
    if (!(error instanceof XmlRefused)) throw error
    return { kind: 'malformed', detail: error.message }
  }
  if (root === 'sitemapindex') return { kind: 'index', sitemaps: found.map((page) => page.url) }
  if (root === 'urlset') return { kind: 'urlset', pages: found, licences }
  if (root === 'rss' || root === 'feed' || root === 'rdf') return { kind: 'feed', pages: found, licences }
  return { kind: 'malformed', detail: 'this is neither a sitemap nor a feed' }
}

function listed(entry: { url: string; modifiedAt: string }): ListedPage | undefined {
  const url = entry.url.trim()
  if (url.length > 2_048 || !/^https?:\/\//i.test(url) || !URL.canParse(url)) return undefined
  const ms = Date.parse(entry.modifiedAt.trim())
  return { url: new URL(url).href, modifiedAt: Number.isNaN(ms) ? undefined : new Date(ms).toISOString() }
}

/** A sitemap may also be plain text, one address a line (sitemaps.org). */
export function parseTextSitemap(text: string): ListedPage[] {
  return text
    .split(/\r?\n/)
    .slice(0, entriesMax)
    .flatMap((line) => listed({ url: line, modifiedAt: '' }) ?? [])
}
