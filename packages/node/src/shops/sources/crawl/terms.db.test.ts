import type { Address } from '@assay/protocol/address'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readPageChanges } from '../pages/index.ts'
import { describeSource } from '../register/describe-source.ts'
import { verifySource } from '../register/verify-source.ts'
import { openSourceWorld, type SourceWorld } from '../sources.fixture.ts'
import { completeRules } from '../terms/creator-rules.ts'
import { describeTerms, publishTerms, setTerms } from '../terms/set-terms.ts'
import { crawlTools, day, page, wallet } from './crawl.fixture.ts'
import { parseRsl } from './rsl.ts'

let world: SourceWorld
beforeEach(async () => {
  world = await openSourceWorld()
})
afterEach(() => world.close())

const { view, register, crawl, publish } = crawlTools(() => world)

/** Addresses that readers of pages are offered, as an index that starts now would see them. */
async function offered(): Promise<string[]> {
  const { changes } = await readPageChanges(world.deps.database, 0n, 500)
  return changes.flatMap(({ page: one }) => (one ? [one.url] : [])).sort()
}

async function crawlNextDay(): Promise<void> {
  world.advance(2 * day)
  await crawl()
}

test('terms of a site take effect at the next daily visit, in both directions, and the reason is shown', async () => {
  publish('terms.com', 2)
  await register('terms.com')
  await crawl()
  expect((await offered()).length).toBe(3)
  const robots = 'https://terms.com/robots.txt'
  world.web.set(robots, 'User-agent: *\nContent-Signal: search=no\nAllow: /\n')
  await crawlNextDay()
  expect(await offered()).toEqual([])
  expect((await view('terms.com')).terms).toMatchObject({
    offered: 0,
    not_indexed: 3,
    reasons: [{ reason: 'Content-Signal in robots.txt says search=no', pages: 3 }],
  })
  const before = (await readPageChanges(world.deps.database, 0n, 500)).nextSeq
  world.web.set(robots, 'User-agent: *\nAllow: /\n')
  await crawlNextDay()
  // An index that excluded them is notified of them again, though no page changed.
  const { changes } = await readPageChanges(world.deps.database, before, 500)
  expect(changes.filter((change) => change.page).length).toBe(3)
})

test('a licence that only a page names holds while that page is being read again', async () => {
  const licence = '<link rel="license" type="application/rsl+xml" href="/l.xml">'
  world.web.set('https://named.com/', page('Home', '', licence))
  world.web.set(
    'https://named.com/l.xml',
    '<rsl><content url="/"><license><prohibits type="usage">all</prohibits></license></content></rsl>',
  )
  await register('named.com')
  await crawl()
  expect(await offered()).toEqual([])
  let seen = -1
  world.intercept = async (url) => {
    if (url === 'https://named.com/') seen = (await offered()).length
    return undefined
  }
  await crawlNextDay()
  expect(seen).toBe(0)
  expect(await offered()).toEqual([])
})

test('reserved mining keeps out the part of a site that tdmrep.json names', async () => {
  publish('mined.com', 2)
  world.web.set('https://mined.com/.well-known/tdmrep.json', '[{"location":"/a1","tdm-reservation":1}]')
  await register('mined.com')
  await crawl()
  expect(await offered()).toEqual(['https://mined.com/', 'https://mined.com/a0'])
})

async function proven(domain: string): Promise<void> {
  await register(domain)
  const { claim } = (await describeSource(world.deps, domain, wallet)) as never as {
    claim: { prove: { dns: { value: string } } }
  }
  for (const zone of world.txt) zone.set(`_citemarket.${domain}`, [claim.prove.dns.value])
  await verifySource(world.deps, domain)
}
const set = (domain: string, rules: Parameters<typeof completeRules>[0], signedBy: Address = wallet) =>
  setTerms(world.deps, { domain, rules: completeRules(rules), signedBy })
const cited = async (url: string) => {
  const { changes } = await readPageChanges(world.deps.database, 0n, 500)
  return changes.find((one) => one.url === url)?.page
}

test('what a proven creator sets is obeyed at once and published as RSL, and every version is kept', async () => {
  publish('mine.com', 3)
  await proven('mine.com')
  await crawl()
  expect((await offered()).length).toBe(4)
  await set('mine.com', [
    { path: '/', attest_usd: '0.02' },
    { path: '/a0', crawl: false },
    { path: '/a1', snippet: false },
    { path: '/a2', content: true, content_usd: '0.05' },
  ])
  expect(await offered()).toEqual(['https://mine.com/', 'https://mine.com/a1', 'https://mine.com/a2'])
  expect(await cited('https://mine.com/')).toMatchObject({
    terms: { content: false },
    prices: { attestMicro: 20_000n },
  })
  expect(await cited('https://mine.com/a1')).toMatchObject({ terms: { snippet: false } })
  expect(await cited('https://mine.com/a2')).toMatchObject({
    terms: { content: true },
    prices: { contentMicro: 50_000n },
  })
  expect((await view('mine.com')).terms.reasons).toContainEqual(
    expect.objectContaining({ example: 'https://mine.com/a0', reason: expect.stringContaining('creator') }),
  )
  const xml = await publishTerms(world.deps, 'mine.com')
  expect(parseRsl(xml ?? '')).toMatchObject({ status: 'ok', terms: { length: 5 } })
  await set('mine.com', [])
  expect(await publishTerms(world.deps, 'mine.com')).toBeUndefined()
  const { rules, history } = await describeTerms(world.deps, 'mine.com')
  expect([rules.length, history.map(({ seq, rules: kept }) => [seq, kept.length])]).toEqual([
    0,
    [
      [2, 0],
      [1, 4],
    ],
  ])
})

test('the crawler reads nothing that the creator forbids, and reads it again once it may', async () => {
  publish('quiet.com', 2)
  world.web.set('https://quiet.com/robots.txt', `License: ${world.deps.apiUrl}/v1/sources/quiet.com/rsl.xml\n`)
  await proven('quiet.com')
  await set('quiet.com', [{ path: '/a', crawl: false }])
  await crawl()
  expect(await offered()).toEqual(['https://quiet.com/'])
  const asked = world.requests.map(({ url }) => url)
  expect(asked.filter((url) => url.includes('/a') || url.includes('rsl.xml'))).toEqual([])
  expect(await cited('https://quiet.com/')).toMatchObject({ terms: { snippet: true } })
  await set('quiet.com', [])
  world.advance(60 * 60_000)
  await crawl()
  expect((await offered()).length).toBe(3)
})

test('terms are set by the wallet that is paid for a proven domain and by no other', async () => {
  publish('open.com', 1)
  await register('open.com')
  await expect(set('open.com', [])).rejects.toMatchObject({ code: 'source_unproven' })
  await proven('open.com')
  const stranger = '0x2222222222222222222222222222222222222222'
  await expect(set('open.com', [], stranger)).rejects.toMatchObject({ code: 'forbidden' })
  await set('open.com', [{ path: '/' }])
  await set('open.com', [{ path: '/' }])
  expect((await describeTerms(world.deps, 'open.com')).history.length).toBe(1)
})
