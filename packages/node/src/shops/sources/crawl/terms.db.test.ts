import { afterEach, beforeEach, expect, test } from 'vitest'
import { readPageChanges } from '../pages/index.ts'
import { openSourceWorld, type SourceWorld } from '../sources.fixture.ts'
import { crawlTools, day, page } from './crawl.fixture.ts'

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
