import { afterEach, beforeEach, expect, test } from 'vitest'
import { openSourceWorld, type SourceWorld } from '../sources.fixture.ts'
import { crawlTools, day, page } from './crawl.fixture.ts'
import { nextVisitMs, pageBudget } from './page-budget.ts'

let world: SourceWorld
beforeEach(async () => {
  world = await openSourceWorld()
})
afterEach(() => world.close())

const { view, register, crawl, pageRows } = crawlTools(() => world)

test('a sitemap that names its pages with www or http lists pages of the same site', async () => {
  await register('bare.com')
  world.web.set('https://bare.com/', page('Home'))
  world.web.set(
    'https://bare.com/sitemap.xml',
    '<urlset><url><loc>https://www.bare.com/a</loc></url><url><loc>http://bare.com/b</loc></url><url><loc>https://other.com/c</loc></url></urlset>',
  )
  world.web.set('https://bare.com/a', page('A'))
  world.web.set('https://bare.com/b', page('B'))
  await crawl()
  expect((await pageRows('bare.com')).map(({ url, read }) => [url, read])).toEqual([
    ['https://bare.com/', true],
    ['https://bare.com/a', true],
    ['https://bare.com/b', true],
  ])
})

test('a home page that leads to another name of the site has that name read, and a foreign one not', async () => {
  await register('moved.com')
  await register('leaving.com')
  world.intercept = async (url) => {
    const target =
      url === 'https://moved.com/'
        ? 'https://en.moved.com/'
        : url === 'https://leaving.com/'
          ? 'https://stranger.com/'
          : undefined
    return target === undefined
      ? undefined
      : {
          status: 'ok',
          httpStatus: 200,
          headers: new Map([['content-type', 'text/html']]),
          bytes: Buffer.from(page('Elsewhere page')),
          cut: false,
          url: target,
          redirectedFrom: [url],
          address: '203.0.114.1',
          secure: true,
        }
  }
  world.web.set('https://en.moved.com/', page('English'))
  await crawl()
  await crawl()
  expect(await pageRows('en.moved.com')).toMatchObject([{ url: 'https://en.moved.com/', read: true }])
  expect(await pageRows('stranger.com')).toEqual([])
})

test('pages that cannot be read say why, and such a site scores below any that can', async () => {
  const app =
    '<html><head><title>App</title></head><body><div id="root"></div><script src="/app.js"></script></body></html>'
  for (const domain of ['scripted.com', 'silent.com', 'plain.com']) await register(domain)
  world.web.set('https://scripted.com/', app)
  world.web.set('https://silent.com/robots.txt', 'down')
  world.web.set('https://plain.com/', '<p>Short.</p>')
  await crawl()
  const { scoreSources } = await import('../score/score-sources.ts')
  await scoreSources(world.deps)
  const [scripted, silent, plain] = [await view('scripted.com'), await view('silent.com'), await view('plain.com')]
  expect(scripted.crawl.problems).toEqual([
    { problem: 'needs JavaScript: without it the page has no text', pages: 1, example: 'https://scripted.com/' },
  ])
  expect(scripted.next_steps[2].fix).toContain('needs JavaScript')
  expect(silent.crawl.problem).toBe('no connection')
  expect(silent.score.gate.reason).toContain('no connection')
  expect(scripted.cite_score).toBe(0)
  expect(silent.cite_score).toBe(0)
  expect(plain.cite_score).toBeGreaterThan(0)
})

test('a text that only JSON-LD carries is read, with its author and dates', async () => {
  await register('linked.com')
  const article = {
    '@type': 'NewsArticle',
    headline: 'H',
    author: { name: 'Ada' },
    datePublished: '2026-01-02',
    articleBody: 'Words of the article. '.repeat(30),
  }
  world.web.set(
    'https://linked.com/',
    `<div id="app"></div><script>x</script><script type="application/ld+json">${JSON.stringify(article)}</script>`,
  )
  await crawl()
  const { rows } = await world.db.database.query<{ text: string; facts: { authors: string[] } }>(
    `select v.text, p.facts from crawl_page p join page_version v using (domain, url) where domain = 'linked.com'`,
  )
  expect(rows).toMatchObject([{ facts: { authors: ['Ada'], publishedAt: '2026-01-02T00:00:00.000Z' } }])
  expect(rows[0]?.text).toContain('Words of the article.')
})

test('pages that change are visited more often, the others every day', async () => {
  await register('lively.com')
  let edition = 0
  world.web.set('https://lively.com/', () => {
    edition += 1
    return { body: page(`Edition ${edition}`, '<a href="/still">s</a>') }
  })
  world.web.set('https://lively.com/still', page('Still'))
  const visits = async (hours: number) => {
    world.requests.length = 0
    world.advance((hours * day) / 24)
    await crawl()
    return world.requests.map(({ url }) => new URL(url).pathname).filter((path) => path === '/' || path === '/still')
  }
  await crawl()
  expect((await visits(24.1)).sort()).toEqual(['/', '/still'])
  expect(await visits(12.1)).toEqual(['/'])
  expect((await visits(12.1)).sort()).toEqual(['/', '/still'])
})

test('the rhythm stays within its limits, and the budget follows the operator, then the score', () => {
  let ms: number = day
  for (let n = 0; n < 10; n += 1) ms = nextVisitMs(ms, true, day)
  expect(ms).toBe(day / 8)
  for (let n = 0; n < 10; n += 1) ms = nextVisitMs(ms, false, day)
  expect(ms).toBe(day)
  expect(pageBudget({ pages_max: 7, cite_score: 90 }, 50)).toBe(7)
  expect([null, 0, 25, 100].map((cite_score) => pageBudget({ pages_max: null, cite_score }, 50))).toEqual([
    50, 25, 50, 125,
  ])
})
