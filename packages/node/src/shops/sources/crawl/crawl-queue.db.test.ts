import { afterEach, beforeEach, expect, test } from 'vitest'
import type { OutboundOutcome } from '../../../outbound/index.ts'
import { verifySource } from '../register/verify-source.ts'
import { failure, openSourceWorld, type SourceWorld } from '../sources.fixture.ts'
import { crawlTools, day, page } from './crawl.fixture.ts'
import { releaseHost, takeHosts } from './store.ts'

let world: SourceWorld
beforeEach(async () => {
  world = await openSourceWorld()
})
afterEach(() => world.close())

const { view, register, crawl, publish, pageRows } = crawlTools(() => world)
const asked = (path: string) => world.requests.filter(({ url }) => url.endsWith(path))

test('two workers share the queue: every page is asked for once, a host by one worker at a time', async () => {
  const domains = ['one.com', 'two.com', 'three.com', 'four.com']
  for (const domain of domains) {
    publish(domain, 12)
    await register(domain)
  }
  const active = new Map<string, number>()
  let crossed = 0
  world.intercept = async (url) => {
    const { host } = new URL(url)
    active.set(host, (active.get(host) ?? 0) + 1)
    if ((active.get(host) ?? 0) > 1) crossed += 1
    await new Promise((resolve) => setTimeout(resolve, 2))
    active.set(host, (active.get(host) ?? 0) - 1)
    return undefined
  }
  const runs = await Promise.all([crawl(), crawl(), crawl()])
  expect(runs.reduce((sum, run) => sum + run.pages, 0)).toBe(4 * 13)
  expect(crossed).toBe(0)
  const pages = world.requests.map(({ url }) => url).filter((url) => /\/(?:a\d+)?$/.test(url))
  expect(new Set(pages).size).toBe(pages.length)
})

test('hosts of one registrable domain take turns, so that a wildcard is not met by a crowd', async () => {
  for (let n = 0; n < 5; n += 1) {
    publish(`h${n}.wild.com`, 2)
    await register(`h${n}.wild.com`)
  }
  publish('honest.com', 2)
  await register('honest.com')
  const first = await takeHosts(world.deps.database, world.deps.clock, 100, 60_000)
  expect(first.map((lease) => lease.source.registrable).sort()).toEqual(['honest.com', 'wild.com'])
  expect(await takeHosts(world.deps.database, world.deps.clock, 100, 60_000)).toEqual([])
  for (const lease of first)
    await releaseHost(world.deps.database, world.deps.clock, lease, {
      dueAt: new Date(world.deps.clock.nowMs()),
      finished: false,
      failures: 0,
      problem: null,
    })
  await crawl()
  for (let n = 0; n < 5; n += 1) expect((await view(`h${n}.wild.com`)).crawl.pages_indexed).toBe(3)
})

test('a worker whose lease ran out changes nothing any more, and the next one goes on where pages were stored', async () => {
  publish('slow.com', 25)
  await register('slow.com')
  let stalled: (() => void) | undefined
  let pages = 0
  world.intercept = async (url) => {
    if (!/\/a\d+$/.test(url)) return undefined
    pages += 1
    if (pages === 15) await new Promise<void>((resolve) => (stalled = resolve))
    return undefined
  }
  const first = crawl()
  await expect.poll(() => stalled, { timeout: 30_000 }).toBeDefined()
  world.advance(2 * 60_000)
  const second = await crawl()
  expect((await view('slow.com')).crawl).toMatchObject({ pages_indexed: 26, problem: null })
  // The home page and a batch of ten are stored: the second asks for the rest only.
  expect(second.pages).toBe(26 - 11)
  expect(asked('/robots.txt').length).toBe(1)
  stalled?.()
  await first
  const { rows } = await world.db.database.query<{ due: boolean; lease_token: bigint }>(
    `select due_at > $1 as due, lease_token from crawl_host where domain = 'slow.com'`,
    [new Date(world.deps.clock.nowMs())],
  )
  expect(rows).toEqual([{ due: true, lease_token: 2n }])
})

test('a worker that is stopped releases its hosts at once, whatever it is doing', async () => {
  publish('stopped.com', 8)
  for (const path of ['/robots.txt', '/a3']) {
    await register('stopped.com')
    const stop = new AbortController()
    world.intercept = async (url) => {
      if (!url.endsWith(path)) return undefined
      stop.abort(new Error('stop'))
      return { ...failure(url), reason: 'aborted' } as OutboundOutcome
    }
    await crawl(stop.signal)
    const { rows } = await world.db.database.query(`select from crawl_host where leased_until is not null`)
    expect(rows, path).toEqual([])
  }
  world.intercept = undefined
  await crawl()
  expect((await view('stopped.com')).crawl.pages_indexed).toBe(9)
})

test('a host that hangs on page after page is given up for now and asked ever more rarely', async () => {
  publish('hangs.com', 30)
  await register('hangs.com')
  world.intercept = async (url) => (/\/a\d+$/.test(url) ? failure(url) : undefined)
  await crawl()
  expect(world.requests.filter(({ url }) => /\/a\d+$/.test(url)).length).toBe(3)
  expect((await view('hangs.com')).crawl).toMatchObject({ pages_indexed: 1, problem: 'the host does not answer' })
  const { rows } = await world.db.database.query<{ failures: number; wait: number }>(
    `select failures, extract(epoch from due_at - $1::timestamptz)::integer as wait from crawl_host where domain = 'hangs.com'`,
    [new Date(world.deps.clock.nowMs())],
  )
  expect(rows[0]?.failures).toBe(1)
  expect(rows[0]?.wait).toBeGreaterThan(60)
})

test('a request for a visit that comes during a visit, or just after one, is not lost', async () => {
  publish('eager.com', 3)
  await register('eager.com')
  let wished = false
  world.intercept = async (url) => {
    if (url.endsWith('/a1') && !wished) {
      wished = true
      world.web.set('https://eager.com/', page('Improved'))
      await verifySource(world.deps, 'eager.com')
    }
    return undefined
  }
  await crawl()
  const { rows } = await world.db.database.query<{ title: string }>(
    `select facts->>'title' as title from crawl_page where url = 'https://eager.com/'`,
  )
  expect(rows).toEqual([{ title: 'Improved' }])
  world.deps.settings = { ...world.deps.settings, recrawlPauseMs: 60_000 }
  world.web.set('https://eager.com/', page('Again'))
  await verifySource(world.deps, 'eager.com')
  expect((await crawl()).hosts).toBe(0)
  world.advance(61_000)
  expect((await crawl()).pages).toBe(4)
})

test('whatever outside call fails, in whatever way, the crawl ends in a clear state and the next one is whole again', async () => {
  const domain = 'faulty.com'
  const publishAll = () => {
    publish(domain, 3)
    world.web.set(
      `https://${domain}/robots.txt`,
      `User-agent: *\nAllow: /\nSitemap: https://${domain}/sitemap.xml\nLicense: /l.xml\n`,
    )
    world.web.set(`https://${domain}/sitemap.xml`, `<urlset><url><loc>https://${domain}/listed</loc></url></urlset>`)
    world.web.set(
      `https://${domain}/listed`,
      page('Listed', '', '<link rel="alternate" type="application/atom+xml" href="/atom.xml">'),
    )
    world.web.set(`https://${domain}/atom.xml`, `<feed><entry><link href="https://${domain}/fed"/></entry></feed>`)
    world.web.set(`https://${domain}/fed`, page('Fed', '<p>See <a href="https://cited.org/x">this</a></p>'))
    world.web.set(`https://${domain}/llms.txt`, `# Site\n[x](https://${domain}/a0)\n`)
    world.web.set(
      `https://${domain}/l.xml`,
      '<rsl><content><license><permits>search</permits></license></content></rsl>',
    )
    world.web.set('https://cited.org/x', 'x')
  }
  publishAll()
  await register(domain)
  await crawl()
  const calls = world.requests.length
  const whole = (await pageRows(domain)).map(({ url, read }) => ({ url, read }))
  expect(calls).toBeGreaterThan(10)
  expect(whole.every(({ read }) => read)).toBe(true)
  const faults: ((url: string) => OutboundOutcome)[] = [
    (url) => failure(url),
    (url) => ({ ...failure(url), reason: 'timeout' }) as OutboundOutcome,
    (url) => ({ status: 'refused' as const, reason: 'address_not_global' as const, detail: 'not public', url }),
    (url) => ({
      status: 'ok',
      httpStatus: 503,
      headers: new Map(),
      bytes: new Uint8Array(),
      cut: false,
      url,
      redirectedFrom: [],
      address: '203.0.114.1',
      secure: true,
    }),
    (url) => ({
      status: 'ok',
      httpStatus: 200,
      headers: new Map([['content-type', 'text/html']]),
      bytes: Buffer.from([0xff, 0xfe, 0, 0xd8, 1, 2, 3]),
      cut: false,
      url,
      redirectedFrom: [],
      address: '203.0.114.1',
      secure: true,
    }),
  ]
  for (let k = 1; k <= calls; k += 1) {
    const fault = faults[k % faults.length]
    let count = 0
    world.intercept = async (url) => {
      count += 1
      return count === k ? fault?.(url) : undefined
    }
    world.advance(40 * day)
    await crawl()
    const state = await view(domain)
    expect(state.crawl.finished_at, `call ${k}`).not.toBeNull()
    expect(state.next_steps[2].fix, `call ${k}`).toMatch(/\S/)
    world.intercept = undefined
    world.advance(40 * day)
    await crawl()
    expect(
      (await pageRows(domain)).map(({ url, read }) => ({ url, read })),
      `after call ${k}`,
    ).toEqual(whole)
  }
})
