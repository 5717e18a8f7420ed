import { gunzipSync } from 'node:zlib'
import { toHex } from '@assay/protocol/bytes'
import { sha256 } from '@assay/till/kernel/bytes'
import { toRfc3339 } from '@assay/till/kernel/clock'
import type { OutboundOutcome } from '../../../outbound/index.ts'
import type { SourceDeps } from '../deps.ts'
import { decodeText } from '../page/decode-text.ts'
import type { SourceRow } from '../register/records.ts'
import { rslUrl } from '../terms/publish-rsl.ts'
import type { Finding, HostFindings } from './findings.ts'
import { parseLlmsTxt } from './llms-txt.ts'
import type { RateLimitedHost } from './rate-limited-host.ts'
import { allowAll, disallowAll, isAllowed, parseRobots, type Robots, robotsBytesMax } from './robots.ts'
import { parseRsl } from './rsl.ts'
import { ownAddresses, ownPages } from './same-site.ts'
import { type ListedPage, parseListing, parseTextSitemap } from './sitemap.ts'
import { parseTdmRep } from './tdm.ts'

export const productToken = 'assaybot'
const sitemapsMax = 5
const sitemapsOfLargeMax = 200

/** Sitemaps and feeds that the operator named, and how many pages are wanted in all. */
export type Wanted = { listings: readonly string[]; wanted: number }

export type FoundPage = { url: string; foundBy: 'home' | 'operator' | 'sitemap' | 'feed' | 'llms' | 'link' | 'archive' }

export type Discovery = { findings: HostFindings; robots: Robots; pages: FoundPage[]; reachable: boolean }

/** robots.txt, licence, sitemaps and llms.txt, and what DNS and TLS say: before any page is asked for. */
export async function discoverHost(
  deps: SourceDeps,
  source: SourceRow,
  host: RateLimitedHost,
  signal: AbortSignal,
  operator: Wanted = { listings: [], wanted: 50 },
): Promise<Discovery> {
  const at = () => toRfc3339(deps.clock.nowMs())
  const robotsAnswer = await host.ask(`${source.origin}/robots.txt`, { maxBytes: robotsBytesMax, onTooLarge: 'cut' })
  const { finding: robotsFinding, robots } = readRobots(robotsAnswer, `${source.origin}/robots.txt`, at())
  host.slowTo(robots.crawlDelaySeconds)
  const findings: HostFindings = { discoveredAt: at(), robots: robotsFinding, tls: readTls(source, robotsAnswer, at()) }
  const pages: FoundPage[] = [{ url: `${source.origin}/`, foundBy: 'home' }]
  if (robotsAnswer.status !== 'ok') return { findings, robots, pages, reachable: false }
  if (robots.rules.some((rule) => !rule.allow && rule.pattern === '/') && robots.rules.every((rule) => !rule.allow))
    return { findings, robots, pages: [], reachable: true }
  const listed = await readSitemaps(source, host, robots, at, operator)
  findings.sitemap = listed.finding
  pages.push(...listed.pages.map((page) => ({ url: page.url, foundBy: 'sitemap' as const })))
  if (isAllowed(robots, `${source.origin}/llms.txt`)) {
    const llms = await readLlms(source, host, at)
    findings.llms = llms.finding
    pages.push(...llms.links.map((url) => ({ url, foundBy: 'llms' as const })))
  }
  const rsl = await readRsl(deps, source, host, robots.licences, at)
  if (rsl) findings.rsl = rsl
  const tdm = await readTdm(source, host, at)
  if (tdm) findings.tdm = tdm
  Object.assign(findings, await readDnsFacts(deps, source, signal, at))
  return { findings, robots, pages, reachable: true }
}

export function readRobots(
  answer: OutboundOutcome,
  url: string,
  checkedAt: string,
): { finding: HostFindings['robots'] & object; robots: Robots } {
  const finding = (status: Finding['status'], note?: string) => ({ url, status, sha256: undefined, checkedAt, note })
  if (answer.status !== 'ok') return { finding: finding('unknown', answer.detail), robots: disallowAll }
  // RFC 9309: what the server forbids or does not have allows all; what it fails to say forbids all.
  if (answer.httpStatus >= 500 || answer.httpStatus === 429)
    return { finding: finding('broken', `answers ${answer.httpStatus}, so nothing may be read`), robots: disallowAll }
  if (answer.httpStatus !== 200) return { finding: finding('absent', `answers ${answer.httpStatus}`), robots: allowAll }
  const robots = parseRobots(Buffer.from(answer.bytes).toString('utf8'), productToken)
  const present = {
    ...finding('present'),
    sha256: toHex(sha256(answer.bytes)),
    ...(robots.signals ? { signals: robots.signals } : {}),
  }
  // Kept for a crawl that is interrupted: few sites have more, and the row is written often.
  return { finding: robots.rules.length > rulesKeptMax ? present : { ...present, rules: robots }, robots }
}

const rulesKeptMax = 500

/** The rules behind a finding; undefined when it does not hold them all, and robots.txt has to be read again. */
export function rulesOf(finding: HostFindings['robots'] & object): Robots | undefined {
  if (finding.status === 'absent') return allowAll
  return finding.status === 'present' ? finding.rules : disallowAll
}

function readTls(source: SourceRow, answer: OutboundOutcome, checkedAt: string): Finding {
  const common = { url: source.origin, sha256: undefined, checkedAt }
  if (!source.origin.startsWith('https:'))
    return { ...common, status: 'unknown', note: 'a demo name is asked without TLS' }
  if (answer.status === 'ok') return { ...common, status: answer.secure ? 'present' : 'absent' }
  return answer.status === 'failed' && answer.reason === 'tls'
    ? { ...common, status: 'absent', note: answer.detail }
    : { ...common, status: 'unknown', note: answer.detail }
}

async function readSitemaps(
  source: SourceRow,
  host: RateLimitedHost,
  robots: Robots,
  at: () => string,
  { listings, wanted }: Wanted,
) {
  const usual = `${source.origin}/sitemap.xml`
  const named = ownAddresses(robots.sitemaps, source.origin)
  const given = source.sitemap === null ? listings : [...listings, source.sitemap]
  const waiting = ownAddresses([...given, ...named, usual], source.origin).filter(
    (url) => named.includes(url) || isAllowed(robots, url),
  )
  const asksMax = Math.max(sitemapsMax, Math.min(sitemapsOfLargeMax, wanted / 50)) + listings.length
  const pages: ListedPage[] = []
  let finding: HostFindings['sitemap'] = {
    url: usual,
    status: 'absent',
    sha256: undefined,
    checkedAt: at(),
    pages: 0,
  }
  for (let asked = 0; asked < asksMax && waiting.length > 0; asked += 1) {
    const url = waiting.shift() ?? ''
    const answer = await host.ask(url)
    if (answer.status !== 'ok' || answer.httpStatus !== 200) continue
    const text = decodeText(unpacked(answer.bytes), answer.headers.get('content-type')) ?? ''
    const listing = parseListing(text)
    if (listing.kind === 'index') waiting.push(...ownAddresses(listing.sitemaps, source.origin))
    const listed =
      listing.kind === 'urlset' || listing.kind === 'feed'
        ? listing.pages
        : /\.txt$/.test(url)
          ? parseTextSitemap(text)
          : []
    pages.push(...ownPages(listed, source.origin))
    const usable = listing.kind === 'index' || listed.length > 0
    finding = {
      url,
      status: usable ? 'present' : 'broken',
      sha256: toHex(sha256(answer.bytes)),
      checkedAt: at(),
      pages: pages.length,
      ...(listing.kind === 'malformed' ? { note: listing.detail } : {}),
    }
    if (pages.length > 0 && waiting.every((next) => next === usual)) break
  }
  return { finding, pages }
}

const sitemapBytesMax = 5 * 1024 * 1024

/** Sitemaps are often stored compressed (sitemap.xml.gz), which is no content coding. */
function unpacked(bytes: Uint8Array): Uint8Array {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes
  try {
    return gunzipSync(bytes, { maxOutputLength: sitemapBytesMax })
  } catch {
    return new Uint8Array()
  }
}

async function readLlms(
  source: SourceRow,
  host: RateLimitedHost,
  at: () => string,
): Promise<{ finding: Finding; links: string[] }> {
  const url = `${source.origin}/llms.txt`
  const answer = await host.ask(url, {
    accept: ['text/plain', 'text/markdown'],
    maxBytes: 256 * 1024,
    onTooLarge: 'cut',
  })
  const finding = (status: Finding['status'], digest?: string): Finding => ({
    url,
    status,
    sha256: digest,
    checkedAt: at(),
  })
  if (answer.status === 'failed') return { finding: finding('unknown'), links: [] }
  if (answer.status !== 'ok' || answer.httpStatus !== 200) return { finding: finding('absent'), links: [] }
  const parsed = parseLlmsTxt(decodeText(answer.bytes, answer.headers.get('content-type')) ?? '', url)
  if (!parsed) return { finding: finding('broken', toHex(sha256(answer.bytes))), links: [] }
  return {
    finding: finding('present', toHex(sha256(answer.bytes))),
    links: ownAddresses(parsed.links, source.origin),
  }
}

export async function readRsl(
  deps: Pick<SourceDeps, 'apiUrl'>,
  source: SourceRow,
  host: RateLimitedHost,
  licences: readonly string[],
  at: () => string,
): Promise<HostFindings['rsl'] | undefined> {
  const url = licences
    .map((text) => (URL.canParse(text, source.origin) ? new URL(text, source.origin).href : ''))
    .find((text) => text !== '')
  if (url === undefined) return undefined
  // What this node publishes for the creator is obeyed as it is now, not as it was at the last visit.
  if (url === rslUrl(deps, source.domain) && source.creator_terms)
    return { url, checkedAt: at(), status: 'present', sha256: undefined, licences: [] }
  const answer = await host.ask(url, { maxBytes: 512 * 1024 })
  const common = { url, checkedAt: at() }
  if (answer.status === 'failed') return { ...common, status: 'unknown', sha256: undefined, note: answer.detail }
  if (answer.status !== 'ok' || answer.httpStatus !== 200)
    return { ...common, status: 'broken', sha256: undefined, note: 'the licence that is named cannot be read' }
  const parsed = parseRsl(decodeText(answer.bytes, answer.headers.get('content-type')) ?? '')
  const digest = toHex(sha256(answer.bytes))
  if (parsed.status === 'malformed') return { ...common, status: 'broken', sha256: digest, note: parsed.detail }
  return {
    ...common,
    status: 'present',
    sha256: digest,
    permits: [...new Set(parsed.terms.flatMap((terms) => terms.permits))].slice(0, 50),
    prohibits: [...new Set(parsed.terms.flatMap((terms) => terms.prohibits))].slice(0, 50),
    payments: [...new Set(parsed.terms.flatMap((terms) => terms.payments.map((payment) => payment.type)))].slice(0, 20),
    licences: parsed.terms.slice(0, 50),
  }
}

async function readTdm(
  source: SourceRow,
  host: RateLimitedHost,
  at: () => string,
): Promise<HostFindings['tdm'] | undefined> {
  const url = `${source.origin}/.well-known/tdmrep.json`
  const answer = await host.ask(url, { maxBytes: 128 * 1024 })
  if (answer.status !== 'ok' || answer.httpStatus !== 200) return undefined
  const rules = parseTdmRep(decodeText(answer.bytes, answer.headers.get('content-type')) ?? '')
  return rules && { url, status: 'present', sha256: toHex(sha256(answer.bytes)), checkedAt: at(), rules }
}

async function readDnsFacts(
  deps: SourceDeps,
  source: SourceRow,
  signal: AbortSignal,
  at: () => string,
): Promise<Pick<HostFindings, 'caa' | 'dnssec'>> {
  const [resolver] = deps.resolvers
  if (!resolver || deps.domains.demoHosts.has(source.domain)) return {}
  const answer = await resolver.caa(source.registrable, signal)
  const common = { url: `dns:${source.registrable}?type=CAA`, sha256: undefined, checkedAt: at() }
  if (answer.status === 'failed')
    return { caa: { ...common, status: 'unknown' }, dnssec: { ...common, status: 'unknown' } }
  return {
    caa: { ...common, status: answer.records.length > 0 ? 'present' : 'absent' },
    dnssec: { ...common, status: answer.authenticated ? 'present' : 'absent' },
  }
}
