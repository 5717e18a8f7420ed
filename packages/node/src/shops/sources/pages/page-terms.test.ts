import { expect, test } from 'vitest'
import { parseRobots } from '../crawl/robots.ts'
import { parseRsl } from '../crawl/rsl.ts'
import { isReserved, parseTdmRep } from '../crawl/tdm.ts'
import { readPage } from '../page/index.ts'
import { decideTerms, type SiteTerms } from './page-terms.ts'

const silent = { noIndex: false, noSnippet: false, tdmReserved: undefined }
const url = 'https://site.com/news/one'
const decide = (site: SiteTerms, own: Partial<typeof silent> | { tdmReserved: boolean } = {}, address = url) =>
  decideTerms(address, { ...silent, ...own }, site)

const rsl = (xml: string): SiteTerms => {
  const parsed = parseRsl(`<rsl xmlns="https://rslstandard.org/rsl">${xml}</rsl>`)
  if (parsed.status !== 'ok') throw new Error(parsed.detail)
  return { rsl: { status: 'present', licences: parsed.terms } }
}
const licence = (terms: string, content = '/') => rsl(`<content url="${content}"><license>${terms}</license></content>`)
const signals = (line: string, agents = 'User-agent: *'): SiteTerms => {
  const found = parseRobots(`${agents}\nContent-Signal: ${line}\nAllow: /\n`, 'assaybot').signals
  return found ? { signals: found } : {}
}

test('a site that says nothing may be found and quoted', () => {
  expect(decide({})).toEqual({ index: true, snippet: true, reason: null })
})

test('Content-Signal: search=no keeps pages out, ai-input=no keeps their words', () => {
  expect(decide(signals('search=no'))).toMatchObject({ index: false, reason: expect.stringContaining('search=no') })
  expect(decide(signals('search=yes, ai-train=no'))).toMatchObject({ index: true, snippet: true })
  expect(decide(signals('search=yes, ai-input=no, ai-train=no'))).toMatchObject({ index: true, snippet: false })
  expect(decide(signals('search=no', 'User-agent: otherbot'))).toMatchObject({ index: true })
  expect(decide(signals('SEARCH = No', 'User-agent: AssayBot'))).toMatchObject({ index: false })
})

test('RSL: what is prohibited, not permitted or to be paid before is not indexed', () => {
  const usage = (kind: string, uses: string) => `<${kind} type="usage">${uses}</${kind}>`
  expect(decide(licence(usage('prohibits', 'all')))).toMatchObject({ index: false })
  expect(decide(licence(usage('prohibits', 'search')))).toMatchObject({ index: false })
  expect(decide(licence(usage('prohibits', 'ai-all')))).toMatchObject({ index: false })
  expect(decide(licence(usage('permits', 'ai-train')))).toMatchObject({ index: false })
  expect(decide(licence('<payment type="crawl"><amount currency="USD">0.01</amount></payment>'))).toMatchObject({
    index: false,
    reason: expect.stringContaining('payment (crawl)'),
  })
  expect(decide(licence(usage('prohibits', 'ai-train')))).toMatchObject({ index: true, snippet: true })
  expect(decide(licence(usage('permits', 'all')))).toMatchObject({ index: true, snippet: true })
})

test('RSL: search by name with models left out gives a link without words', () => {
  const usage = '<permits type="usage">search</permits><prohibits type="usage">ai-all</prohibits>'
  expect(decide(licence(usage))).toMatchObject({ index: true, snippet: false })
  expect(decide(licence('<permits type="usage">search</permits>'))).toMatchObject({ index: true, snippet: false })
})

test('RSL: the licence of the longest matching content decides, and any one of several is enough', () => {
  const site = rsl(
    `<content url="https://site.com/"><license><permits type="usage">all</permits></license></content>
     <content url="/news/*"><license><prohibits type="usage">all</prohibits></license></content>
     <content url="/both/"><license><prohibits type="usage">all</prohibits></license><license><permits type="usage">all</permits></license></content>`,
  )
  expect(decide(site)).toMatchObject({ index: false })
  expect(decide(site, {}, 'https://site.com/about')).toMatchObject({ index: true, snippet: true })
  expect(decide(site, {}, 'https://site.com/both/x')).toMatchObject({ index: true, snippet: true })
})

test('RSL: terms for users or countries do not count as uses, and a licence that cannot be read leaves a link', () => {
  expect(
    decide(licence('<permits type="user">commercial</permits><prohibits type="geo">all</prohibits>')),
  ).toMatchObject({
    index: true,
    snippet: true,
  })
  for (const status of ['broken', 'unknown'])
    expect(decide({ rsl: { status } })).toMatchObject({ index: true, snippet: false })
})

test('a TDM reservation keeps a page out; the page itself goes before the site', () => {
  const rules = parseTdmRep('[{"location":"/news/*","tdm-reservation":1},{"location":"/","tdm-reservation":0}]') ?? []
  expect(decide({ tdm: rules })).toMatchObject({ index: false, reason: expect.stringContaining('tdmrep.json') })
  expect(decide({ tdm: rules }, {}, 'https://site.com/x')).toMatchObject({ index: true })
  expect(decide({ tdm: rules }, { tdmReserved: false })).toMatchObject({ index: true })
  expect(decide({}, { tdmReserved: true })).toMatchObject({ index: false })
  expect([parseTdmRep('{}'), parseTdmRep('no'), isReserved('2')]).toEqual([undefined, undefined, undefined])
})

test('directives of a page count when they are meant for everybody or for us', () => {
  const facts = (head: string, headers: Record<string, string> = {}) => {
    const html = `<html><head>${head}</head><body><p>Text of a page.</p></body></html>`
    const read = readPage(Buffer.from(html), url, new Map(Object.entries({ 'content-type': 'text/html', ...headers })))
    if ('problem' in read) throw new Error(read.detail)
    return decide({}, read.facts)
  }
  expect(facts('<meta name="robots" content="noindex">').index).toBe(false)
  expect(facts('<meta name="robots" content="none">').index).toBe(false)
  expect(facts('<meta name="AssayBot" content="noindex">').index).toBe(false)
  expect(facts('<meta name="otherbot" content="noindex">').index).toBe(true)
  expect(facts('<meta name="robots" content="index, nosnippet">')).toMatchObject({ index: true, snippet: false })
  expect(facts('<meta name="robots" content="max-snippet:0">').snippet).toBe(false)
  expect(facts('<meta name="robots" content="max-snippet:50">').snippet).toBe(true)
  expect(facts('<meta name="tdm-reservation" content="1">').index).toBe(false)
  expect(facts('', { 'tdm-reservation': '1' }).index).toBe(false)
  expect(facts('', { 'x-robots-tag': 'noindex' }).index).toBe(false)
  expect(facts('', { 'x-robots-tag': 'otherbot: noindex, nofollow' }).index).toBe(true)
  expect(facts('', { 'x-robots-tag': 'otherbot: noindex, assaybot: nosnippet' })).toMatchObject({
    index: true,
    snippet: false,
  })
})
