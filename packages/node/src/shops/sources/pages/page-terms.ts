import type { ContentSignals } from '../crawl/robots.ts'
import { matchesPath, normalPath } from '../crawl/robots.ts'
import type { RslTerms } from '../crawl/rsl.ts'
import type { TdmRule } from '../crawl/tdm.ts'
import type { PageFacts } from '../page/read-page.ts'

/** What a site says about all of its pages, as far as it decides what may be done with one. */
export type SiteTerms = {
  signals?: ContentSignals | null
  tdm?: readonly TdmRule[] | null
  rsl?: { status: string; licences?: readonly RslTerms[] | null } | null
}

/** `reason` says what forbids something, null when nothing does. */
export type PageTerms = { index: boolean; snippet: boolean; reason: string | null }

const allowed: PageTerms = { index: true, snippet: true, reason: null }
const notIndexed = (reason: string): PageTerms => ({ index: false, snippet: false, reason })
const linkOnly = (reason: string): PageTerms => ({ index: true, snippet: false, reason })

/**
 * May a page be found, and may its words be given to agents? The strictest voice decides. A page that may not be found
 * is not offered at all; one whose words may not be given is offered by its address and title.
 */
export function decideTerms(url: string, facts: OwnTerms, site: SiteTerms): PageTerms {
  const voices = [
    pageVoice(facts),
    tdmVoice(url, facts, site.tdm ?? []),
    signalsVoice(site.signals ?? {}),
    rslVoice(url, site.rsl),
  ]
  return voices.find(({ index }) => !index) ?? voices.find(({ snippet }) => !snippet) ?? allowed
}

type OwnTerms = Pick<PageFacts, 'noIndex' | 'noSnippet' | 'tdmReserved'>

function pageVoice({ noIndex, noSnippet }: OwnTerms): PageTerms {
  if (noIndex) return notIndexed('the page says noindex')
  return noSnippet ? linkOnly('the page says nosnippet') : allowed
}

function tdmVoice(url: string, { tdmReserved }: OwnTerms, rules: readonly TdmRule[]): PageTerms {
  if (tdmReserved !== undefined) return tdmReserved ? notIndexed('the page says tdm-reservation: 1') : allowed
  const rule = longestMatch(url, rules, ({ location }) => location)[0]
  return rule?.reserved ? notIndexed('tdmrep.json reserves text and data mining') : allowed
}

function signalsVoice({ search, aiInput }: ContentSignals): PageTerms {
  if (search === false) return notIndexed('Content-Signal in robots.txt says search=no')
  return aiInput === false ? linkOnly('Content-Signal in robots.txt says ai-input=no') : allowed
}

/** Ways to be paid before anything may be read; this node has no such contract. */
const paidBefore = new Set(['crawl', 'purchase', 'subscription', 'contribution'])

function rslVoice(url: string, rsl: SiteTerms['rsl']): PageTerms {
  if (!rsl) return allowed
  // Terms exist and are not known: then nothing more than a link is safe.
  if (rsl.status !== 'present') return linkOnly('the RSL licence that the site names cannot be read')
  const licences = longestMatch(url, rsl.licences ?? [], ({ content }) => content)
  if (licences.length === 0) return allowed
  // Any one licence is enough; of several the one that grants most is taken.
  const voices = licences.map(licenceVoice)
  return voices.find(({ snippet }) => snippet) ?? voices.find(({ index }) => index) ?? (voices[0] as PageTerms)
}

function licenceVoice({ permits, prohibits, payments }: RslTerms): PageTerms {
  const grants = (...uses: readonly string[]) =>
    !uses.some((use) => prohibits.includes(use)) && (permits.length === 0 || uses.some((use) => permits.includes(use)))
  const payment = payments.find(({ type, amount }) => paidBefore.has(type) && Number(amount ?? 1) !== 0)
  if (payment) return notIndexed(`the RSL licence asks for payment (${payment.type}) before a page is read`)
  // Permitting search by name is meant, whatever is said about other uses of models.
  const mayIndex = permits.includes('search') ? grants('all', 'search') : grants('all', 'search', 'ai-all', 'ai-index')
  if (!mayIndex) return notIndexed('the RSL licence does not permit search')
  return grants('all', 'ai-all', 'ai-input') ? allowed : linkOnly('the RSL licence does not permit ai-input')
}

/** All entries of the longest pattern that matches (RFC 9309), by path or by address. */
function longestMatch<Entry>(url: string, entries: readonly Entry[], patternOf: (entry: Entry) => string): Entry[] {
  const { origin, pathname, search } = new URL(url)
  const path = normalPath(`${pathname}${search}`)
  let [length, found]: [number, Entry[]] = [-1, []]
  for (const entry of entries) {
    const given = patternOf(entry)
    const pattern = normalPath(given.startsWith(origin) ? given.slice(origin.length) || '/' : given)
    if (!pattern.startsWith('/') && !pattern.startsWith('*')) continue
    if (pattern.length < length || !matchesPath(path, pattern)) continue
    if (pattern.length > length) [length, found] = [pattern.length, []]
    found.push(entry)
  }
  return found
}
