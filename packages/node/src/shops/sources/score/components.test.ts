import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Finding } from '../crawl/findings.ts'
import { readPage } from '../page/read-page.ts'
import * as scoring from './components.ts'
import { computeScore } from './compute-score.ts'
import type { PageEvidence, SourceEvidence } from './evidence.ts'
import { componentWeights } from './model.ts'

const nowMs = Date.parse('2026-11-15T00:00:00Z')
const words = 'Running text about how short interest is collected and published. '.repeat(10)

/** A page as it was recorded, read as the crawler reads it. */
function recorded(head = '', body = '', url = 'https://site.com/a'): PageEvidence {
  const html = `<html><head><title>T</title>${head}</head><body><article><p>${words}${body}</p></article></body></html>`
  const read = readPage(Buffer.from(html), url, new Map([['content-type', 'text/html']]))
  if ('problem' in read) throw new Error(read.detail)
  return { url, facts: read.facts, contentSha256: '0x00', fetchedAt: new Date(nowMs).toISOString() }
}

const unknown: SourceEvidence = {
  domain: 'site.com',
  nowMs,
  state: 'registered',
  disputePending: false,
  listed: false,
  findings: {},
  pages: [],
  stability: { checked: 0, resolving: 0 },
  usage: { stake: 0, upheldDisputes: 0 },
  market: { mass: 0, meanMass: 1, stake: 0 },
  external: undefined,
}
const withPages = (...pages: PageEvidence[]): SourceEvidence => ({ ...unknown, pages })
const found = (status: Finding['status']): Finding => ({
  url: 'https://site.com/x',
  status,
  sha256: '0x01',
  checkedAt: new Date(nowMs).toISOString(),
})

test('the weights are those of the model and add up to one', () => {
  expect(componentWeights).toEqual({
    authority: 0.3,
    provenance: 0.2,
    machine_readability: 0.15,
    freshness: 0.1,
    licence_clarity: 0.1,
    usage_quality: 0.15,
  })
  expect(Object.values(componentWeights).reduce((sum, weight) => sum + weight, 0)).toBeCloseTo(1, 12)
})

test('what is unknown has its prior, is shown as unknown, and takes confidence away', () => {
  const score = computeScore(unknown)
  expect(score.confidence).toBe(0)
  for (const part of score.components) {
    expect(part.known).toBe(0)
    expect(part.signals.every((signal) => signal.value === undefined)).toBe(true)
  }
  expect(score.components.find((part) => part.id === 'authority')?.value).toBe(0.35)
  expect(score.score).toBeGreaterThan(30)
  expect(computeScore(withPages(recorded())).confidence).toBeGreaterThan(0)
})

test('authority: a rank list raises it a little, never below what is unlisted; the market counts with its stake', () => {
  const external = { position: 1, entries: 1_000_000, list: 'l', asOf: '2026-11-01' }
  const first = 0.35 + 0.65 * 0.25
  expect(scoring.authority({ ...unknown, external }).value).toBeCloseTo(first, 6)
  const last = scoring.authority({ ...unknown, external: { ...external, position: 1_000_000 } }).value
  expect(last).toBeGreaterThanOrEqual(scoring.authority(unknown).value)
  const market = (stake: number) => scoring.authority({ ...unknown, market: { mass: 1, meanMass: 1, stake } }).value
  expect(market(20)).toBeCloseTo(0.35 + 0.5 * 0.65 * 0.5, 6)
  expect(market(0.01)).toBeLessThan(0.351)
})

test('authority: to be cited or listed, by more or by weightier agents, never lowers it', () => {
  const amount = fc.double({ min: 0, max: 1e4, noNaN: true })
  const rank = fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: undefined })
  fc.assert(
    fc.property(amount, amount, amount, amount, rank, (mass, more, stake, others, external) => {
      const value = (m: number, n: number) => scoring.authorityValue({ mass: m, meanMass: 1, stake: n }, external)
      return value(mass + more, stake + others) >= value(mass, stake) - 1e-12 && value(mass, stake) >= 0.35 - 1e-12
    }),
  )
})

test('a site of which nothing can be read scores below any that can be read', () => {
  const silent = { ...unknown, findings: { discoveredAt: new Date(nowMs).toISOString(), robots: found('present') } }
  const poorest = withPages(recorded())
  expect(computeScore(silent).score).toBeLessThan(computeScore(poorest).score)
  // Nobody has looked yet, or the network failed: that is unknown, not unreadable.
  expect(computeScore(unknown).score).toBeGreaterThan(30)
})

test('provenance rises with author, publisher, date, citations, policies, contact and JSON-LD, each with its evidence', () => {
  const bare = scoring.provenance(withPages(recorded()))
  expect(bare.value).toBe(0)
  const careful = recorded(
    '<script type="application/ld+json">{"@type":"Article","author":{"name":"A"},"publisher":{"name":"P"},"datePublished":"2026-11-01","correctionsPolicy":"/c","ethicsPolicy":"/e"}</script>',
    ' <a href="https://one.org/">1</a> <a href="https://two.org/">2</a> <a href="https://three.org/">3</a> <a href="mailto:a@site.com">contact</a>',
  )
  const full = scoring.provenance(withPages(careful))
  expect(full.value).toBe(1)
  expect(full.signals.every((signal) => (signal.evidence ?? []).length > 0)).toBe(true)
  const dead = {
    ...withPages(careful),
    findings: { citations: { checked: 4, resolved: 1, checkedAt: '', samples: [] } },
  }
  expect(scoring.provenance(dead).value).toBeLessThan(full.value)
  const invalid = recorded('<script type="application/ld+json">{"@type":</script>')
  expect(scoring.provenance(withPages(invalid)).signals.find(({ id }) => id === 'json_ld')?.value).toBe(0)
})

test('machine readability: a missing robots.txt costs little, one that fails costs all of it, silence costs nothing known', () => {
  const value = (status: Finding['status']) =>
    scoring
      .machineReadability({ ...unknown, findings: { robots: found(status) } })
      .signals.find(({ id }) => id === 'robots')?.value
  expect([value('present'), value('absent'), value('broken'), value('unknown')]).toEqual([1, 0.7, 0, undefined])
  const all = scoring.machineReadability({
    ...withPages(recorded('<link rel="canonical" href="/a">')),
    findings: {
      robots: found('present'),
      sitemap: { ...found('present'), pages: 1 },
      llms: found('present'),
      tls: found('present'),
      caa: found('present'),
      dnssec: found('present'),
    },
  })
  expect(all).toMatchObject({ value: 1, known: 1 })
  const little = all.signals.filter(({ id }) => ['llms_txt', 'dnssec', 'caa'].includes(id))
  expect(little.reduce((sum, signal) => sum + signal.weight, 0)).toBeLessThan(2)
})

test('freshness halves in a year, and dead addresses lower it', () => {
  const dated = (date: string) => withPages(recorded(`<meta property="article:published_time" content="${date}">`))
  const age = (date: string) => scoring.freshness(dated(date)).signals.find(({ id }) => id === 'age')?.value
  expect(age('2026-11-15')).toBeCloseTo(1, 2)
  expect(age('2025-11-15')).toBeCloseTo(0.5, 2)
  // A date in the future is no more than today.
  expect(age('2030-01-01')).toBe(1)
  const stability = (resolving: number) => scoring.freshness({ ...unknown, stability: { checked: 4, resolving } }).value
  expect(stability(4)).toBeGreaterThan(stability(1))
})

test('licence clarity: clear counts, generous does not; contradictions and vagueness lower it', () => {
  const named = (...urls: string[]) =>
    scoring.licenceClarity(withPages(recorded(urls.map((url) => `<link rel="license" href="${url}">`).join('')))).value
  const cc = (code: string) => `https://creativecommons.org/licenses/${code}/4.0/`
  expect(named(cc('by'))).toBe(1)
  expect(named(cc('by-nc-nd'))).toBe(named(cc('by')))
  expect(named(cc('by'), cc('by-nc-nd'))).toBeLessThan(named(cc('by')))
  expect(named('/terms')).toBeLessThan(named(cc('by')))
  expect(named()).toBe(0)
  const rsl = (extra: { permits: string[]; prohibits: string[] }) =>
    scoring.licenceClarity({ ...withPages(recorded()), findings: { rsl: { ...found('present'), ...extra } } }).value
  expect(rsl({ permits: [], prohibits: ['all'] })).toBe(rsl({ permits: ['all'], prohibits: [] }))
  const broken = { ...withPages(recorded()), findings: { rsl: found('broken') } }
  expect(scoring.licenceClarity(broken).value).toBeLessThan(rsl({ permits: [], prohibits: [] }))
})

test('being quoted by those with something at stake raises usage quality, nothing but an upheld dispute lowers it', () => {
  const usage = (stake: number, upheldDisputes = 0) =>
    scoring.usageQuality({ ...unknown, usage: { stake, upheldDisputes } }).value
  const rising = [0, 0.001, 1, 20, 1_000].map((stake) => usage(stake))
  expect(rising).toEqual([...rising].sort((one, other) => one - other))
  expect(rising[0]).toBe(0.4)
  expect(usage(20)).toBeCloseTo(0.7, 6)
  expect(usage(20, 1)).toBeCloseTo(usage(20) - 0.2, 6)
})

test('the gate: not yet proven is no fault, a proof that is gone, a harm list and retraction are, a pending dispute halves', () => {
  const gate = (more: Partial<SourceEvidence>) => scoring.gate({ ...unknown, ...more }).value
  expect(gate({ state: 'registered' })).toBe(1)
  expect(gate({ state: 'proving' })).toBe(1)
  expect(gate({ state: 'held' })).toBe(0)
  expect(gate({ state: 'refused', listed: true })).toBe(0)
  expect(gate({ disputePending: true })).toBe(0.5)
  const retracted = recorded(
    '<script type="application/ld+json">{"@type":"Article","creativeWorkStatus":"Retracted"}</script>',
  )
  expect(gate({ pages: [retracted] })).toBe(0)
  expect(gate({ pages: [retracted, recorded()] })).toBe(0.5)
})

test('whatever the evidence, the score is an integer of 0..100, and advice names points it can really give', () => {
  fc.assert(
    fc.property(
      fc.record({
        mass: fc.double({ min: 0, max: 1e6, noNaN: true }),
        citers: fc.double({ min: 0, max: 1e6, noNaN: true }),
        quoted: fc.double({ min: 0, max: 1_000, noNaN: true }),
        disputes: fc.nat(10),
        pages: fc.nat(3),
        pending: fc.boolean(),
        state: fc.constantFrom('registered', 'proving', 'proven', 'disputed', 'held', 'refused'),
      }),
      (drawn) => {
        const score = computeScore({
          ...unknown,
          state: drawn.state as SourceEvidence['state'],
          disputePending: drawn.pending,
          pages: Array.from({ length: drawn.pages }, () => recorded()),
          usage: {
            stake: drawn.quoted,
            upheldDisputes: drawn.disputes,
          },
          market: { mass: drawn.mass, meanMass: 1, stake: drawn.citers },
        })
        expect(Number.isInteger(score.score) && score.score >= 0 && score.score <= 100).toBe(true)
        expect(score.confidence >= 0 && score.confidence <= 1).toBe(true)
        expect(score.advice.every(({ points }) => points >= 0 && points <= 30)).toBe(true)
      },
    ),
    { numRuns: 200 },
  )
})
