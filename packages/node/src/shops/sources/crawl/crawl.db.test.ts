import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openSourceWorld, type SourceWorld } from '../sources.fixture.ts'
import { crawlTools, day, page } from './crawl.fixture.ts'
import { crawlHost } from './crawl-host.ts'
import { type HostLease, takeHosts } from './store.ts'

let world: SourceWorld
beforeEach(async () => {
  world = await openSourceWorld()
})
afterEach(() => world.close())

const { view, register, crawl, publish, pageRows } = crawlTools(() => world)

test('feeds that a page names are read: their pages are visited, and their licence counts', async () => {
  await register('feeds.com')
  world.web.set(
    'https://feeds.com/',
    page('Home', '', '<link rel="alternate" type="application/rss+xml" href="/feed">'),
  )
  world.web.set('https://feeds.com/feed', () => ({
    headers: { 'content-type': 'application/rss+xml' },
    body: '<rss xmlns:rsl="https://rslstandard.org/rsl"><channel><item><link>https://feeds.com/only-in-feed</link></item><item><link>https://elsewhere.com/x</link></item></channel></rss>',
  }))
  world.web.set('https://feeds.com/only-in-feed', page('Fed'))
  await crawl()
  expect(await pageRows('feeds.com')).toMatchObject([
    { url: 'https://feeds.com/', found_by: 'home', read: true },
    { url: 'https://feeds.com/only-in-feed', found_by: 'feed', read: true },
  ])
  expect(world.requests.some(({ url }) => url.includes('elsewhere.com'))).toBe(false)
})

test('a compressed sitemap is read, and a bomb in its place is not', async () => {
  await register('packed.com')
  const listing = '<urlset><url><loc>https://packed.com/listed</loc></url></urlset>'
  world.web.set(
    'https://packed.com/robots.txt',
    'Sitemap: https://packed.com/bomb.xml.gz\nSitemap: https://packed.com/map.xml.gz\n',
  )
  world.web.set('https://packed.com/map.xml.gz', () => ({ bytes: gzipSync(listing) }))
  world.web.set('https://packed.com/bomb.xml.gz', () => ({ bytes: gzipSync(Buffer.alloc(50 * 1024 * 1024)) }))
  world.web.set('https://packed.com/', page('Home'))
  world.web.set('https://packed.com/listed', page('Listed'))
  await crawl()
  expect((await pageRows('packed.com')).map(({ url }) => url)).toEqual([
    'https://packed.com/',
    'https://packed.com/listed',
  ])
})

const redirected = (from: string, to: string, body: string) => async (url: string) =>
  url === from
    ? ({
        status: 'ok',
        httpStatus: 200,
        headers: new Map([['content-type', 'text/html']]),
        bytes: Buffer.from(body),
        cut: false,
        url: to,
        redirectedFrom: [url],
        address: '203.0.114.1',
        secure: true,
      } as const)
    : undefined

test('a creator whose home page redirects to another site is asked to register that name', async () => {
  await register('apex.com')
  world.intercept = redirected('https://apex.com/', 'https://other.com/', page('Elsewhere page'))
  await crawl()
  expect((await view('apex.com')).next_steps[2]).toMatchObject({
    state: 'missing',
    fix: expect.stringContaining('leads to other.com'),
  })
})

test('a name and its www are one site: pages behind the redirect are read, and links to either are its own', async () => {
  await register('apex.com')
  const links = '<a href="/one">1</a><a href="https://www.apex.com/two">2</a><a href="https://blog.apex.com/x">3</a>'
  world.intercept = redirected('https://apex.com/', 'https://www.apex.com/', page('Home', links))
  await crawl()
  expect((await pageRows('apex.com')).map(({ url, read }) => [url, read])).toEqual([
    ['https://apex.com/', true],
    ['https://apex.com/one', false],
    ['https://apex.com/two', false],
  ])
})

test('a page that answers 304 keeps what was read, and is no change; one that changed is', async () => {
  await register('marks.com')
  world.web.set('https://marks.com/', ({ headers }) =>
    headers?.['if-none-match'] === '"v1"' ? { status: 304 } : { body: page('One'), headers: { etag: '"v1"' } },
  )
  await crawl()
  const [before] = await pageRows('marks.com')
  expect(before).toMatchObject({ read: true, http_status: 200, etag: '"v1"' })
  world.advance(2 * day)
  await crawl()
  const [same] = await pageRows('marks.com')
  expect(same).toMatchObject({ read: true, http_status: 304, etag: '"v1"', change_seq: before?.change_seq })
  world.web.set('https://marks.com/', page('Two'))
  world.advance(2 * day)
  await crawl()
  const [changed] = await pageRows('marks.com')
  expect(Number(changed?.change_seq)).toBeGreaterThan(Number(before?.change_seq))
  const versions = await world.db.database.query('select from page_version where domain = $1', ['marks.com'])
  expect(versions.rowCount).toBe(2)
})

test('of a page that changes at every visit the newest versions are kept, the current one always', async () => {
  await register('restless.com')
  for (let round = 0; round < 26; round += 1) {
    world.web.set('https://restless.com/', page(round === 25 ? 'Round 10' : `Round ${round}`))
    world.advance(2 * day)
    await crawl()
  }
  const { rows } = await world.db.database.query<{ title: string; current: boolean }>(
    `select v.title, v.text_sha256 = p.text_sha256 as current from page_version v join crawl_page p using (domain, url) where domain = 'restless.com'`,
  )
  expect(rows.length).toBeLessThanOrEqual(21)
  expect(rows.filter((row) => row.current)).toMatchObject([{ title: 'Round 10' }])
  // Once it was cited, a quote may have to be checked in any of them.
  await world.db.database.query(`insert into source_usage (domain, citations) values ('restless.com', 1)`)
  for (let round = 30; round < 33; round += 1) {
    world.web.set('https://restless.com/', page(`Round ${round}`))
    world.advance(2 * day)
    await crawl()
  }
  const kept = await world.db.database.query(`select from page_version where domain = 'restless.com'`)
  expect(kept.rowCount).toBe(rows.length + 3)
})

test('pages that are gone or come to be forbidden are no longer indexed; silence takes nothing away', async () => {
  await register('fading.com')
  const [gone, closed, quiet] = publish('fading.com', 3) as [string, string, string]
  await crawl()
  expect((await view('fading.com')).crawl.pages_indexed).toBe(4)
  world.web.set(gone, 404)
  world.web.set('https://fading.com/robots.txt', 'User-agent: *\nDisallow: /a1\n')
  world.web.set(quiet, 'down')
  world.advance(2 * day)
  await crawl()
  const rows = new Map((await pageRows('fading.com')).map((row) => [row.url, row]))
  expect(rows.get(gone)).toMatchObject({ read: false, http_status: 404 })
  expect(rows.get(closed)).toMatchObject({ read: false, problem: 'robots.txt forbids it' })
  expect(rows.get(quiet)).toMatchObject({ read: true, problem: 'no connection' })
})

test.each([
  ['that failed', 500],
  ['with more rules than are kept', `User-agent: *\n${'Disallow: /no\n'.repeat(600)}Disallow: /a`],
])('a crawl that is interrupted still obeys a robots.txt %s', async (_, robots) => {
  const urls = publish('obeyed.com', 3)
  await register('obeyed.com')
  await crawl()
  expect((await view('obeyed.com')).crawl.pages_indexed).toBe(4)
  world.web.set('https://obeyed.com/robots.txt', robots)
  world.advance(2 * day)
  world.requests.length = 0
  // Its time is over as soon as robots.txt was read, before any page was checked.
  const [lease] = await takeHosts(world.deps.database, world.deps.clock, 1, 1_000)
  if (!lease) throw new Error('nothing is due')
  await discoverOnly(lease)
  world.advance(2_000)
  await crawl()
  expect(world.requests.filter(({ url }) => urls.includes(url))).toEqual([])
})

async function discoverOnly(lease: HostLease): Promise<void> {
  const { database } = world.deps
  let transactions = 0
  const transaction: typeof database.transaction = (work) => {
    transactions += 1
    return transactions === 1 ? database.transaction(work) : Promise.reject(new Error('killed'))
  }
  const dying = { ...world.deps, database: { ...database, transaction } }
  const window = { signal: new AbortController().signal, stopAtMs: 0 }
  await expect(crawlHost(dying, lease, window)).rejects.toThrow('killed')
}
