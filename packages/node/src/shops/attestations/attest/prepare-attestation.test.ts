import type { Address } from '@assay/protocol/address'
import type { Sql } from '@assay/till/store/database'
import { expect, test } from 'vitest'
import { entryBytesMax } from '../../../tlog/index.ts'
import { type CreatorRule, completeRules } from '../../sources/terms/creator-rules.ts'
import { prepareClaim } from './anchor-claim.ts'
import { readTogether, termsIn } from './attest-price.ts'
import type { AttestDeps } from './deps.ts'
import { type CitationFacts, prepareAttestation, reserve } from './prepare-attestation.ts'
import { openSnapshots } from './snapshots.fixture.ts'

const payer = '0x1111111111111111111111111111111111111111' as Address

/** All that `prepare` uses, over a site with set answers. */
function openAttest(options: Parameters<typeof openSnapshots>[0] & { quotedMicro?: bigint; own?: CreatorRule[] } = {}) {
  const opened = openSnapshots(options)
  const { own, quotedMicro = 5_000n } = options
  const site = { own: own ?? [] }
  let reads = 0
  // No source is registered: nobody asks for a price, except cited.com where it has terms.
  const database = {
    query: async ({ name }: { name: string }) => {
      if (name !== 'source_page_prices') return { rows: [] }
      reads += 1
      return { rows: own ? [{ domain: 'cited.com', own: site.own, rsl: null }] : [] }
    },
  }
  const deps = {
    ...opened,
    currentTerms: readTogether(termsIn(database as unknown as Sql)),
    termsChanges: { count: 0 },
    ids: { next: (kind: string) => `${kind}_1` },
    domains: { ownHosts: new Set(['node.example.org']), demoHosts: new Set() },
    findMatched: async () => undefined,
  } as unknown as AttestDeps
  const quoted = { payer, priceMicro: quotedMicro }
  const attest = async (body: { source_url: string; quote?: string; query_id?: string }) =>
    (await prepareAttestation(deps, { agent_wallet: payer, ...body }, quoted)).reservation as unknown as CitationFacts
  const claim = (sources: string[]) => prepareClaim(deps, { statement: 'So.', sources, agent_wallet: payer }, quoted)
  return { ...opened, attest, claim, site, reads: () => reads, changes: deps.termsChanges }
}

test('a record that would not fit into the log is refused before it is paid', () => {
  const source = { url: `http://a.test/?${'\\'.repeat(2_000)}` }
  const fits = { id: 'clm_1', sources: Array.from({ length: 10 }, () => source) }
  expect(reserve(fits)).toMatchObject({ reservation: fits })
  const tooLong = { id: 'clm_1', sources: Array.from({ length: 16 }, () => source) }
  expect(JSON.stringify(tooLong).length).toBeLessThan(entryBytesMax)
  expect(() => reserve(tooLong)).toThrow('too long to be logged together')
})

test('a query_id that offered no such page is refused before the page is fetched', async () => {
  const { attest, fetched } = openAttest()
  await expect(attest({ source_url: 'https://cited.com/a', query_id: 'qry_none' })).rejects.toMatchObject({
    code: 'input_invalid',
  })
  expect(fetched).toEqual([])
})

test('preparing a citation or a claim stores nothing', async () => {
  const { attest, claim, stored } = openAttest()
  await attest({ source_url: 'https://cited.com/a', quote: 'Words of the page.' })
  await claim(['https://cited.com/a', 'https://cited.com/b'])
  expect(stored).toEqual([])
})

test('the host that a redirect led to is paid, not the host that redirected', async () => {
  const { attest } = openAttest({ finalUrl: () => 'https://www.b-site.com/story' })
  expect(await attest({ source_url: 'https://a-site.com/x' })).toMatchObject({
    page: { url: 'https://a-site.com/x', domain: 'www.b-site.com', registrable: 'b-site.com' },
    finalUrl: 'https://www.b-site.com/story',
  })
})

test('a canonical link names who is paid within the same site only', async () => {
  const withCanonical = (href: string) =>
    openAttest({ head: `<link rel="canonical" href="${href}">` }).attest({ source_url: 'https://m.cited.com/a' })
  expect((await withCanonical('https://www.cited.com/a')).page.domain).toBe('www.cited.com')
  expect((await withCanonical('https://www.cited.com./a')).page.domain).toBe('www.cited.com')
  expect((await withCanonical('https://other.com/a')).page.domain).toBe('m.cited.com')
  expect((await withCanonical('https://10.0.0.1/a')).page.domain).toBe('m.cited.com')
  const shared = openAttest({ head: '<link rel="canonical" href="https://two.github.io/a">' })
  expect((await shared.attest({ source_url: 'https://one.github.io/a' })).page.domain).toBe('one.github.io')
})

test('a redirect to what is not a public domain is refused', async () => {
  for (const finalUrl of ['https://node.example.org/a', 'http://10.0.0.1/', 'https://com/'])
    await expect(
      openAttest({ finalUrl: () => finalUrl }).attest({ source_url: 'https://cited.com/a' }),
    ).rejects.toMatchObject({ code: 'page_unreadable' })
})

test('two sources of a claim that lead to one page are refused', async () => {
  const { claim } = openAttest({ finalUrl: () => 'https://cited.com/a?utm_source=x' })
  await expect(claim(['https://short.com/1', 'https://short.com/2'])).rejects.toMatchObject({ code: 'input_invalid' })
})

const premium = completeRules([
  { path: '/', attest_usd: '0.02' },
  { path: '/premium/', attest_usd: '0.5' },
])

test('a redirect to a page with a higher price is refused with its address; one to the same price is not', async () => {
  const leadsTo = (path: string, own = premium) =>
    openAttest({ own, quotedMicro: 20_000n, finalUrl: () => `https://cited.com${path}` })
  const around = {
    code: 'input_invalid',
    message: expect.stringContaining('https://cited.com/premium/x, which costs 0.5'),
  }
  await expect(leadsTo('/premium/x').attest({ source_url: 'https://cited.com/a' })).rejects.toMatchObject(around)
  await expect(leadsTo('/premium/x').claim(['https://cited.com/a'])).rejects.toMatchObject(around)
  // From a host that asks for nothing, too.
  await expect(leadsTo('/a').attest({ source_url: 'https://short.com/1' })).rejects.toMatchObject({
    code: 'input_invalid',
  })
  const plain = leadsTo('/b')
  await plain.attest({ source_url: 'https://cited.com/a' })
  expect(plain.reads()).toBe(2)
  const unmoved = leadsTo('/a')
  await unmoved.attest({ source_url: 'https://cited.com/a' })
  expect(unmoved.reads()).toBe(1)
})

test('a price that rose after the quote is refused before the page is fetched, and is quoted from then on', async () => {
  const { attest, claim, fetched, changes } = openAttest({ own: premium, quotedMicro: 20_000n })
  const moved = { code: 'citation_price_moved', details: { extra: { price_micro: '500000' } } }
  await expect(attest({ source_url: 'https://cited.com/premium/x' })).rejects.toMatchObject(moved)
  await expect(claim(['https://cited.com/premium/x'])).rejects.toMatchObject(moved)
  expect([fetched, changes.count]).toEqual([[], 2])
})

test('terms that change while the page is fetched do not make a redirect cheaper than its target', async () => {
  const opened = openAttest({
    own: completeRules([{ path: '/', attest_usd: '0.02' }]),
    quotedMicro: 20_000n,
    finalUrl: () => {
      opened.site.own = completeRules([{ path: '/', attest_usd: '1' }])
      return 'https://cited.com/b'
    },
  })
  await expect(opened.attest({ source_url: 'https://cited.com/a' })).rejects.toMatchObject({ code: 'input_invalid' })
})

test('a creator who forbids stamps of the page that a redirect leads to is obeyed', async () => {
  const own = completeRules([
    { path: '/', attest_usd: '0.02' },
    { path: '/private/', crawl: false },
  ])
  const { attest } = openAttest({ own, quotedMicro: 20_000n, finalUrl: () => 'https://cited.com/private/x' })
  await expect(attest({ source_url: 'https://cited.com/a' })).rejects.toMatchObject({ code: 'citation_not_allowed' })
})

test('citations at once read the terms together, each for its own page; one that comes later reads them again', async () => {
  const { attest, reads } = openAttest({ own: premium, quotedMicro: 20_000n })
  const prices = await Promise.allSettled(
    ['https://cited.com/a', 'https://other.com/a', 'https://cited.com/premium/a'].map((source_url) =>
      attest({ source_url }),
    ),
  )
  expect(prices.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected'])
  expect(reads()).toBe(1)
  await attest({ source_url: 'https://cited.com/b' })
  expect(reads()).toBe(2)
})
