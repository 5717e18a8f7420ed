import { type Micro, parseUsd } from '@assay/protocol/money'
import type { ContentSignals } from '../crawl/robots.ts'
import { longestMatch } from '../crawl/robots.ts'
import type { RslTerms } from '../crawl/rsl.ts'
import type { TdmRule } from '../crawl/tdm.ts'
import type { PageFacts } from '../page/read-page.ts'
import { type CreatorRule, citationMicro, licencesOf, priceMicroMax } from '../terms/creator-rules.ts'

/** What a site says about all of its pages, as far as it decides what may be done with one. */
export type SiteTerms = {
  signals?: ContentSignals | null
  tdm?: readonly TdmRule[] | null
  rsl?: { status: string; licences?: readonly RslTerms[] | null } | null
  /** What its proven creator set here. */
  own?: readonly CreatorRule[] | null
}

/** `reason` says what forbids something, null when nothing does. */
export type PageTerms = { index: boolean; snippet: boolean; reason: string | null }

const allowed: PageTerms = { index: true, snippet: true, reason: null }
const notIndexed = (reason: string): PageTerms => ({ index: false, snippet: false, reason })
const linkOnly = (reason: string): PageTerms => ({ index: true, snippet: false, reason })

/**
 * May a page be found, and may its words be given to agents? The strictest rule decides. A page that may not be found
 * is not offered at all; one whose words may not be given is offered by its address and title.
 */
export function decideTerms(url: string, facts: OwnTerms, site: SiteTerms): PageTerms {
  const rules = [
    pageRule(facts),
    tdmRule(url, facts, site.tdm ?? []),
    signalsRule(site.signals ?? {}),
    rslRule(url, site.rsl),
    licencesRule(ownLicences(url, site.own), 'licence of its creator'),
  ]
  return rules.find(({ index }) => !index) ?? rules.find(({ snippet }) => !snippet) ?? allowed
}

type OwnTerms = Pick<PageFacts, 'noIndex' | 'noSnippet' | 'tdmReserved'>

function pageRule({ noIndex, noSnippet }: OwnTerms): PageTerms {
  if (noIndex) return notIndexed('the page says noindex')
  return noSnippet ? linkOnly('the page says nosnippet') : allowed
}

function tdmRule(url: string, { tdmReserved }: OwnTerms, rules: readonly TdmRule[]): PageTerms {
  if (tdmReserved !== undefined) return tdmReserved ? notIndexed('the page says tdm-reservation: 1') : allowed
  const rule = longestMatch(url, rules, ({ location }) => location)[0]
  return rule?.reserved ? notIndexed('tdmrep.json reserves text and data mining') : allowed
}

function signalsRule({ search, aiInput }: ContentSignals): PageTerms {
  if (search === false) return notIndexed('Content-Signal in robots.txt says search=no')
  return aiInput === false ? linkOnly('Content-Signal in robots.txt says ai-input=no') : allowed
}

/** Ways to be paid before anything may be read; this node has no such contract. */
const paidBefore = new Set(['crawl', 'purchase', 'subscription', 'contribution'])

function rslRule(url: string, rsl: SiteTerms['rsl']): PageTerms {
  if (!rsl) return allowed
  // Terms exist and are not known: then nothing more than a link is safe.
  if (rsl.status !== 'present') return linkOnly('the RSL licence that the site names cannot be read')
  return licencesRule(licencesFor(url, rsl.licences ?? []), 'RSL licence')
}

const licencesFor = (url: string, licences: readonly RslTerms[]) =>
  longestMatch(url, licences, ({ content }) => content)

/** Whether a rule of the creator is about the page. */
export const hasOwnTerms = (url: string, site: SiteTerms): boolean => ownLicences(url, site.own).length > 0

export const forbidsReading = (url: string, own: SiteTerms['own']): boolean =>
  !licencesRule(ownLicences(url, own), '').index

const ownLicences = (url: string, rules: SiteTerms['own']) =>
  rules && rules.length > 0 ? licencesFor(url, licencesOf(rules, new URL(url).origin)) : []

/** Any one licence is enough; of several the one that grants most is taken. */
function licencesRule(licences: readonly RslTerms[], name: string): PageTerms {
  if (licences.length === 0) return allowed
  const rules = licences.map((licence) => licenceRule(licence, name))
  return rules.find(({ snippet }) => snippet) ?? rules.find(({ index }) => index) ?? (rules[0] as PageTerms)
}

function licenceRule({ permits, prohibits, payments }: RslTerms, name: string): PageTerms {
  const grants = (...uses: readonly string[]) =>
    !uses.some((use) => prohibits.includes(use)) && (permits.length === 0 || uses.some((use) => permits.includes(use)))
  const payment = payments.find(({ type, amount }) => paidBefore.has(type) && Number(amount ?? 1) !== 0)
  if (payment) return notIndexed(`the ${name} asks for payment (${payment.type}) before a page is read`)
  // Permitting search by name is meant, whatever is said about other uses of models.
  const mayIndex = permits.includes('search') ? grants('all', 'search') : grants('all', 'search', 'ai-all', 'ai-index')
  if (!mayIndex) return notIndexed(`the ${name} does not permit search`)
  return grants('all', 'ai-all', 'ai-input') ? allowed : linkOnly(`the ${name} does not permit ai-input`)
}

/** `reason` says why no citation may be stamped; `contentMicro` is what its creator asks for the whole text. */
export type PagePrices =
  | { attestMicro: Micro; contentMicro: Micro | undefined }
  | { attestMicro: undefined; reason: string; contentMicro: Micro | undefined }

/** What using a page costs: by the licence of the site and by what its creator set here, the dearer of both. */
export function decidePrices(url: string, site: SiteTerms): PagePrices {
  const own = ownLicences(url, site.own)
  const published = site.rsl?.status === 'present' ? licencesFor(url, site.rsl.licences ?? []) : []
  const contentMicro = amountOf(own, 'crawl')
  const refused = (reason: string | null): PagePrices => ({
    attestMicro: undefined,
    reason: reason ?? '',
    contentMicro,
  })
  const rules = [licencesRule(published, 'RSL licence'), licencesRule(own, 'licence of its creator')]
  const forbidden = rules.find(({ index }) => !index)
  if (forbidden) return refused(forbidden.reason)
  if (own.length > 0 && !own.some((licence) => asks(licence, 'use')))
    return refused('its creator does not let citations be stamped')
  // A licence without this price lets the page be used without it.
  const granted = published.filter((licence) => licenceRule(licence, '').index)
  const isPriced = granted.length > 0 && granted.every((licence) => asks(licence, 'use'))
  const asked = [...(own.length > 0 ? [own] : []), ...(isPriced ? [granted] : [])].map((some) => amountOf(some, 'use'))
  if (asked.some((micro) => micro === undefined || micro > priceMicroMax))
    return refused('the price that its licence asks cannot be paid here')
  const attestMicro = asked.reduce<Micro>((most, micro = 0n) => (micro > most ? micro : most), citationMicro)
  return { attestMicro, contentMicro }
}

const asks = ({ payments }: RslTerms, type: string) => payments.some((payment) => payment.type === type)

/** The least that one of the licences asks for by this kind of payment. */
function amountOf(licences: readonly RslTerms[], type: string): Micro | undefined {
  const amounts = licences
    .flatMap(({ payments }) => payments.filter((payment) => payment.type === type))
    .map(({ amount, currency }) => (currency === 'USD' ? parseUsd(amount ?? '') : undefined))
  return amounts.reduce(
    (least, micro) => (least !== undefined && (micro === undefined || least <= micro) ? least : micro),
    undefined,
  )
}
