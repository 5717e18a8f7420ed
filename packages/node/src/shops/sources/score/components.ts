import type { Finding } from '../crawl/findings.ts'
import { contradictions } from '../page/licence.ts'
import type { PageEvidence, SourceEvidence } from './evidence.ts'
import { type Component, clamp, componentOf, type EvidenceItem, type Signal } from './model.ts'

const pageItem = (what: string, page: PageEvidence | undefined): EvidenceItem[] =>
  page ? [{ what, url: page.url, sha256: page.contentSha256, checkedAt: page.fetchedAt }] : []

const findingItem = (what: string, finding: Finding | undefined): EvidenceItem[] =>
  finding ? [{ what, url: finding.url, sha256: finding.sha256, checkedAt: finding.checkedAt }] : []

/** Share of pages for which it holds; unknown while there is no page. */
function share(pages: readonly PageEvidence[], holds: (page: PageEvidence) => boolean): number | undefined {
  return pages.length === 0 ? undefined : pages.filter(holds).length / pages.length
}

/** Pages with their own running text; lists and forms need neither author nor date. */
const articles = (evidence: SourceEvidence) => {
  const read = evidence.pages.filter((page) => page.facts.textCharacters >= 500)
  return read.length > 0 ? read : evidence.pages
}

/**
 * What the market says grows with what its agents have at stake, not with their number. Trust and rank lists count
 * upwards from the prior: being cited, or listed, must never be worse than not, or citing a rival would harm it.
 */
export function authorityValue(market: SourceEvidence['market'], external: number | undefined): number {
  const { mass, meanMass, stake } = market
  const base = authorityPrior + (1 - authorityPrior) * rankListWorth * (external ?? 0)
  const trusted = authorityPrior + (1 - authorityPrior) * (mass <= 0 ? 0 : mass / (mass + meanMass))
  return clamp(base + (stake / (stake + halfMarketStake)) * Math.max(0, trusted - base))
}

/** With this sum of weights the market counts half of what it can. */
export const halfMarketStake = 20
/** A popularity list says little about quality: its first place is worth a quarter of what trust can give. */
export const rankListWorth = 0.25
export const authorityPrior = 0.35

/** Position in a ranked list on a log scale: first is 1, last is near 0. */
export function externalValue(external: SourceEvidence['external']): number | undefined {
  if (!external) return undefined
  return clamp(1 - Math.log(external.position) / Math.log(Math.max(external.entries, 2) + 1))
}

export function authority(evidence: SourceEvidence): Component {
  const external = externalValue(evidence.external)
  const known = evidence.market.stake > 0 || external !== undefined
  const signal: Signal = {
    id: 'trust',
    weight: 1,
    value: known ? authorityValue(evidence.market, external) : undefined,
    prior: authorityPrior,
    advice: 'Be cited by agents that hold trust by a bond or by what they spent; citing yourself earns nothing.',
    evidence: evidence.external
      ? [
          {
            what: `rank ${evidence.external.position} of ${evidence.external.entries}`,
            url: `list:${evidence.external.list}`,
            sha256: undefined,
            checkedAt: evidence.external.asOf,
          },
        ]
      : [],
  }
  return componentOf('authority', [signal])
}

export function provenance(evidence: SourceEvidence): Component {
  const pages = articles(evidence)
  const some = (holds: (page: PageEvidence) => boolean) =>
    evidence.pages.length === 0 ? undefined : evidence.pages.some(holds) ? 1 : 0
  const where = (what: string, holds: (page: PageEvidence) => boolean) => pageItem(what, evidence.pages.find(holds))
  const cited =
    pages.length === 0
      ? undefined
      : pages.reduce((sum, page) => sum + Math.min(1, page.facts.citations.length / 3), 0) / pages.length
  const checked = evidence.findings.citations
  const resolving = checked && checked.checked > 0 ? checked.resolved / checked.checked : 1
  return componentOf('provenance', [
    {
      id: 'author',
      weight: 3,
      prior: 0.4,
      value: share(pages, (page) => page.facts.authors.length > 0),
      advice: 'Name the author of each article in JSON-LD or <meta name="author">.',
      evidence: where('author', (page) => page.facts.authors.length > 0),
    },
    {
      id: 'publisher',
      weight: 2,
      prior: 0.4,
      value: share(pages, (page) => page.facts.publisher !== undefined),
      advice: 'Name the publisher in JSON-LD or og:site_name.',
      evidence: where('publisher', (page) => page.facts.publisher !== undefined),
    },
    {
      id: 'dates',
      weight: 3,
      prior: 0.4,
      value: share(pages, (page) => page.facts.publishedAt !== undefined),
      advice: 'Give datePublished and dateModified on each article.',
      evidence: where('date', (page) => page.facts.publishedAt !== undefined),
    },
    {
      id: 'citations',
      weight: 4,
      prior: 0.3,
      value: cited === undefined ? undefined : clamp(cited * resolving),
      advice: 'Link each claim to its source; three working outbound citations an article are enough.',
      evidence: where('citations', (page) => page.facts.citations.length > 0),
    },
    {
      id: 'corrections',
      weight: 2,
      prior: 0.3,
      value: some((page) => page.facts.corrections),
      advice: 'Publish a corrections policy and link to it.',
      evidence: where('corrections policy', (page) => page.facts.corrections),
    },
    {
      id: 'ethics',
      weight: 1,
      prior: 0.3,
      value: some((page) => page.facts.ethics),
      advice: 'Publish editorial or ethics guidelines and link to them.',
      evidence: where('ethics policy', (page) => page.facts.ethics),
    },
    {
      id: 'contact',
      weight: 2,
      prior: 0.5,
      value: some((page) => page.facts.contact),
      advice: 'Give a contact: a mailto link, a contact page or contactPoint in JSON-LD.',
      evidence: where('contact', (page) => page.facts.contact),
    },
    {
      id: 'json_ld',
      weight: 3,
      prior: 0.4,
      value: share(pages, (page) => page.facts.jsonLd.blocks > 0 && page.facts.jsonLd.invalid === 0),
      advice: 'Describe each article with valid schema.org JSON-LD.',
      evidence: where('JSON-LD', (page) => page.facts.jsonLd.blocks > 0),
    },
  ])
}

const present = (finding: Finding | undefined): number | undefined =>
  finding === undefined || finding.status === 'unknown' ? undefined : finding.status === 'present' ? 1 : 0

export function machineReadability(evidence: SourceEvidence): Component {
  const { findings } = evidence
  const robots = findings.robots
  // No robots.txt at all is allowed and clear; one that cannot be read forbids everything.
  const robotsValue =
    robots === undefined || robots.status === 'unknown'
      ? undefined
      : { present: 1, absent: 0.7, broken: 0 }[robots.status]
  return componentOf('machine_readability', [
    {
      id: 'tls',
      weight: 3,
      prior: 0.7,
      value: present(findings.tls),
      advice: 'Serve the site over https with a valid certificate.',
      evidence: findingItem('TLS', findings.tls),
    },
    {
      id: 'readable_text',
      weight: 4,
      prior: 0.5,
      value: share(evidence.pages, (page) => page.facts.textCharacters >= 500),
      advice: 'Deliver the text in the HTML itself, at least 500 characters a page, without scripts.',
      evidence: pageItem('text', evidence.pages[0]),
    },
    {
      id: 'canonical',
      weight: 2,
      prior: 0.5,
      value: share(evidence.pages, (page) => page.facts.canonical !== undefined),
      advice: 'Give each page a <link rel="canonical">.',
      evidence: pageItem(
        'canonical',
        evidence.pages.find((page) => page.facts.canonical !== undefined),
      ),
    },
    {
      id: 'robots',
      weight: 2,
      prior: 0.6,
      value: robotsValue,
      advice: 'Serve a robots.txt that answers 200.',
      evidence: findingItem('robots.txt', robots),
    },
    {
      id: 'sitemap',
      weight: 2,
      prior: 0.4,
      value: present(findings.sitemap),
      advice: 'Publish a sitemap and name it in robots.txt.',
      evidence: findingItem('sitemap', findings.sitemap),
    },
    {
      id: 'llms_txt',
      weight: 0.5,
      prior: 0.3,
      value: present(findings.llms),
      advice: 'Add an llms.txt that lists your best pages.',
      evidence: findingItem('llms.txt', findings.llms),
    },
    {
      id: 'dnssec',
      weight: 0.25,
      prior: 0.3,
      value: present(findings.dnssec),
      advice: 'Sign the zone with DNSSEC.',
      evidence: findingItem('DNSSEC', findings.dnssec),
    },
    {
      id: 'caa',
      weight: 0.25,
      prior: 0.3,
      value: present(findings.caa),
      advice: 'Add a CAA record.',
      evidence: findingItem('CAA', findings.caa),
    },
  ])
}

const halfLifeMs = 365 * 86_400_000

export function freshness(evidence: SourceEvidence): Component {
  const ages = articles(evidence)
    .map((page) => page.facts.modifiedAt ?? page.facts.publishedAt)
    .filter((date) => date !== undefined)
    .map((date) => Math.max(0, evidence.nowMs - Date.parse(date)))
    .sort((one, other) => one - other)
  const median = ages[Math.floor(ages.length / 2)]
  const { checked, resolving } = evidence.stability
  return componentOf('freshness', [
    {
      id: 'age',
      weight: 1,
      prior: 0.4,
      value: median === undefined ? undefined : 0.5 ** (median / halfLifeMs),
      advice: 'Date your articles and keep them up to date.',
      evidence: pageItem('newest page', evidence.pages[0]),
    },
    {
      id: 'stability',
      weight: 1,
      prior: 0.5,
      value: checked === 0 ? undefined : resolving / checked,
      advice: 'Keep addresses alive: redirect moved pages and never reuse an address.',
    },
  ])
}

/** How clear the terms are, not how generous: a licence that forbids everything is as clear as one that allows it. */
export function licenceClarity(evidence: SourceEvidence): Component {
  const { rsl } = evidence.findings
  const found = evidence.pages.flatMap((page) => page.facts.licences)
  const clashing = contradictions(found)
  const named = found.some((licence) => licence.kind !== 'custom' && licence.kind !== 'rsl')
  const known = evidence.pages.length > 0 || rsl !== undefined
  const best = rsl?.status === 'present' || named ? 1 : found.length > 0 ? 0.6 : rsl?.status === 'broken' ? 0.3 : 0
  const licensed = share(evidence.pages, (page) => page.facts.licences.length > 0) ?? 0
  return componentOf('licence_clarity', [
    {
      id: 'licence',
      weight: 3,
      prior: 0.3,
      value: known ? best : undefined,
      advice:
        'Say what may be done with your text: an RSL file named in robots.txt, or a Creative Commons link with rel="license".',
      evidence: [
        ...findingItem('RSL', rsl),
        ...pageItem(
          'licence',
          evidence.pages.find((page) => page.facts.licences.length > 0),
        ),
      ],
    },
    {
      id: 'coverage',
      weight: 1,
      prior: 0.3,
      value: known ? (rsl?.status === 'present' ? 1 : licensed) : undefined,
      advice: 'State the licence on every page, or for the whole site in robots.txt.',
    },
    {
      id: 'consistency',
      weight: 1,
      prior: 0.5,
      value: known ? (clashing.length > 0 ? 0 : best > 0 ? 1 : 0) : undefined,
      advice:
        clashing.length > 0
          ? `Name one licence: ${clashing.join(' and ')} contradict each other.`
          : 'State one licence everywhere.',
    },
  ])
}

const usagePrior = 0.4

/**
 * Quotes found in the pages, by what those who quote have at stake. It only rises: anybody can pay for a citation, so a
 * quote that was never there says nothing about the page, and many quotes of one cluster are one.
 */
export const usageValue = (stake: number) => usagePrior + (1 - usagePrior) * (stake / (stake + halfMarketStake))

export function usageQuality(evidence: SourceEvidence): Component {
  const { stake, upheldDisputes } = evidence.usage
  const prior = clamp(usagePrior - 0.2 * upheldDisputes)
  const value = stake <= 0 ? undefined : clamp(usageValue(stake) - 0.2 * upheldDisputes)
  return componentOf('usage_quality', [
    {
      id: 'quotes_found',
      weight: 1,
      prior,
      value,
      advice: 'Be quoted by agents that hold trust; what they quote must be in the page.',
    },
  ])
}

/** Factor on the whole. Not yet proven is no fault; a proof that was there and is gone is. */
/** Visited, and not one page could be read: priors are for what nobody has checked yet. */
const isUnreadable = ({ findings, pages }: SourceEvidence) => pages.length === 0 && findings.discoveredAt !== undefined

export function gate(evidence: SourceEvidence): { value: number; reason: string } {
  if (evidence.listed || evidence.state === 'refused')
    return { value: 0, reason: 'The domain is on a list of harmful sites.' }
  if (evidence.state === 'held') return { value: 0, reason: 'The proof of the domain is gone.' }
  if (isUnreadable(evidence)) {
    const why = evidence.findings.robots?.note
    return { value: 0, reason: `Not one page could be read${why === undefined ? '' : `: ${why}`}.` }
  }
  const retracted = share(evidence.pages, (page) => page.facts.retracted) ?? 0
  if (retracted === 1) return { value: 0, reason: 'Everything here was retracted.' }
  if (evidence.disputePending) return { value: 0.5, reason: 'A dispute is pending.' }
  return retracted > 0 ? { value: 1 - retracted, reason: 'Part of the pages was retracted.' } : { value: 1, reason: '' }
}
