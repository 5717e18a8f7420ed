import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseRsl } from '../crawl/rsl.ts'
import { decidePrices, decideTerms } from '../pages/page-terms.ts'
import { type CreatorRule, completeRules, licencesOf, rulesInput } from './creator-rules.ts'
import { writeRsl } from './publish-rsl.ts'

const origin = 'https://site.com'
const silent = { noIndex: false, noSnippet: false, tdmReserved: undefined }
const piece = fc.constantFrom('a', 'b', 'news', '*', '.pdf', '\'&<"', '%7E', '/')
const path = fc.array(piece, { maxLength: 4 }).map((pieces) => `/${pieces.join('')}`)
const usd = fc.integer({ min: 5_000, max: 1_000_000 }).map((micro) => (micro / 1_000_000).toFixed(6))

const rule = fc
  .record({ path, crawl: fc.boolean(), snippet: fc.boolean(), attest: fc.boolean(), content: fc.boolean(), usd })
  .map(({ path: of, crawl, snippet, attest, content, usd: price }) => ({
    path: of,
    crawl,
    snippet: crawl && snippet,
    attest: crawl && attest,
    ...(crawl && attest ? { attest_usd: price } : {}),
    ...(crawl && snippet && content ? { content: true, content_usd: price } : {}),
  }))
const rules = fc.uniqueArray(rule, { maxLength: 8, selector: ({ path: of }) => of.toUpperCase() }).map((given) => {
  const read = rulesInput.safeParse(given)
  return read.success ? completeRules(read.data) : []
})
const address = fc.array(fc.constantFrom('a', 'b', 'news', 'x.pdf', "'", '~', '/'), { maxLength: 5 })

test('what is published for a creator is read by our own reader as what is obeyed here', () => {
  fc.assert(
    fc.property(rules, address, (own, pieces) => {
      fc.pre(own.length > 0)
      const url = new URL(`${origin}/${pieces.join('')}`).href
      const read = parseRsl(writeRsl(licencesOf(own, origin)))
      if (read.status !== 'ok') throw new Error(read.detail)
      expect(read.terms).toEqual(licencesOf(own, origin))
      const published = { rsl: { status: 'present', licences: read.terms } }
      const { index, snippet } = decideTerms(url, silent, { own })
      expect(decideTerms(url, silent, published)).toMatchObject({ index, snippet })
      const prices = decidePrices(url, { own })
      if (index && prices.attestMicro !== undefined)
        expect(decidePrices(url, published).attestMicro).toBe(prices.attestMicro)
    }),
    { numRuns: 40 },
  )
})

const parse = (given: unknown) => rulesInput.safeParse(given)
const set = (...given: object[]): CreatorRule[] => completeRules(rulesInput.parse(given))

test('the more specific path decides, with its own permissions and prices', () => {
  const own = set(
    { path: '/', attest_usd: '0.02' },
    { path: '/premium/', snippet: false, attest_usd: '0.5' },
    { path: '/premium/free/', content: true, content_usd: '0.01' },
    { path: '/private/', crawl: false },
  )
  const at = (of: string) => ({
    ...decideTerms(`${origin}${of}`, silent, { own }),
    ...decidePrices(`${origin}${of}`, { own }),
  })
  expect(at('/x')).toMatchObject({ index: true, snippet: true, attestMicro: 20_000n, contentMicro: undefined })
  expect(at('/premium/x')).toMatchObject({ index: true, snippet: false, attestMicro: 500_000n })
  expect(at('/premium/free/x')).toMatchObject({ snippet: true, attestMicro: 5_000n, contentMicro: 10_000n })
  expect(at('/private/x')).toMatchObject({ index: false, reason: expect.stringContaining('creator') })
})

test('prices stay within bounds and permissions do not contradict each other', () => {
  const path = '/'
  for (const refused of [
    { path, attest_usd: '0.004' },
    { path, attest_usd: '1.000001' },
    { path, attest_usd: '-1' },
    { path, attest_usd: '0.0050001' },
    { path, content: true, content_usd: '0.00001' },
    { path, content: true },
    { path, content_usd: '0.01' },
    { path, crawl: false, snippet: true },
    { path, crawl: false, attest: true },
    { path, snippet: false, content: true, content_usd: '0.01' },
    { path, attest: false, attest_usd: '0.01' },
    { path: 'news' },
    { path: '/a b' },
  ])
    expect(parse([refused]).success, JSON.stringify(refused)).toBe(false)
  expect(parse([{ path: '/%7ea' }, { path: '/~a' }]).success).toBe(false)
  expect(parse(Array.from({ length: 26 }, (_, at) => ({ path: `/${at}` }))).success).toBe(false)
})

test('a price that the licence of the site asks is honoured, and one that cannot be paid here is not undercut', () => {
  const site = (xml: string) => {
    const read = parseRsl(`<rsl><content url="/"><license>${xml}</license></content></rsl>`)
    if (read.status !== 'ok') throw new Error(read.detail)
    return { rsl: { status: 'present', licences: read.terms } }
  }
  const use = (amount: string, currency = 'USD') =>
    `<payment type="use"><amount currency="${currency}">${amount}</amount></payment>`
  const priceOf = (xml: string) => decidePrices(`${origin}/x`, site(xml)).attestMicro
  expect(priceOf(use('0.03'))).toBe(30_000n)
  expect(priceOf(use('0.0001'))).toBe(5_000n)
  expect(priceOf('<payment type="attribution"/>')).toBe(5_000n)
  for (const beyond of [use('0.03', 'EUR'), use('2'), use('ask us'), '<payment type="use"/>'])
    expect(decidePrices(`${origin}/x`, site(beyond)), beyond).toMatchObject({
      attestMicro: undefined,
      reason: expect.stringContaining('cannot be paid'),
    })
  const own = set({ path: '/', attest_usd: '0.01' })
  expect(decidePrices(`${origin}/x`, { ...site(use('0.03')), own }).attestMicro).toBe(30_000n)
})
