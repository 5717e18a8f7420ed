import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { crawlTools, page } from '../crawl/crawl.fixture.ts'
import { findPage } from '../pages/indexed-page.ts'
import { openSourceWorld, type SourceWorld } from '../sources.fixture.ts'
import { openCorpus, readSeed, readSeedLines } from './index.ts'

let world: SourceWorld
let folder: string
beforeEach(async () => {
  world = await openSourceWorld()
  folder = await mkdtemp(join(tmpdir(), 'corpus-'))
})
afterEach(async () => {
  await world.close()
  await rm(folder, { recursive: true })
})

const { crawl, pageRows } = crawlTools(() => world)
const corpus = () =>
  openCorpus({
    database: world.db.database,
    clock: world.deps.clock,
    ownUrls: [world.deps.apiUrl],
    demoHosts: new Set<string>(),
  })
const seedsOf = (...texts: string[]) => texts.flatMap((text) => readSeed(text) ?? [])

test('domains, sitemaps, feeds and pages are distinguished, and a site has one name with and without www', () => {
  expect(seedsOf('WWW.Example.org', 'https://www.example.org/', 'http://example.org/map.xml.gz')).toEqual([
    { kind: 'domain', domain: 'example.org' },
    { kind: 'domain', domain: 'example.org' },
    { kind: 'listing', domain: 'example.org', url: 'https://example.org/map.xml.gz' },
  ])
  expect(readSeed('https://example.org/blog/feed/')).toMatchObject({ kind: 'listing' })
  expect(readSeed('https://example.org/about')).toMatchObject({ kind: 'page' })
  for (const bad of ['', 'example', 'ftp://example.org/', 'two words.org', 'https://', 'javascript:alert(1)'])
    expect(readSeed(bad), bad).toBeUndefined()
  expect(readSeedLines('# list\nexample.org\n1,example.com\n"https://example.net/a"\nnothing here\n')).toEqual({
    seeds: [
      { kind: 'domain', domain: 'example.org' },
      { kind: 'domain', domain: 'example.com' },
      { kind: 'page', domain: 'example.net', url: 'https://example.net/a' },
    ],
    skipped: 1,
  })
})

test('an operator fills an empty corpus with domains, feeds and single pages, each with its own budget', async () => {
  world.web.set('https://seeded.org/', page('Home', '<a href="/a">a</a> <a href="/b">b</a> <a href="/c">c</a>'))
  for (const path of ['a', 'b', 'c']) world.web.set(`https://seeded.org/${path}`, page(`Article ${path}`))
  world.web.set('https://seeded.net/', 404)
  world.web.set('https://seeded.net/only', page('Only'))
  world.web.set(
    'https://seeded.net/news.xml',
    '<rss><channel><item><link>https://www.seeded.net/fed</link></item></channel></rss>',
  )
  world.web.set('https://seeded.net/fed', page('Fed'))
  const added = await corpus().add(
    seedsOf('https://www.seeded.org', 'https://seeded.net/news.xml', 'https://seeded.net/only', 'api.node.example.net'),
    { pages: 3 },
    'tester',
  )
  expect(added.domains).toMatchObject([
    { domain: 'seeded.org', state: 'new', problem: null },
    { domain: 'seeded.net', state: 'new', pages: 1, listings: 1 },
    { domain: 'api.node.example.net', state: 'skipped', problem: 'This is a domain of the node itself.' },
  ])
  await crawl()
  expect((await pageRows('seeded.org')).filter(({ read }) => read)).toHaveLength(3)
  expect(await pageRows('seeded.net')).toMatchObject([
    { url: 'https://seeded.net/', read: false },
    { url: 'https://seeded.net/fed', found_by: 'sitemap', read: true },
    { url: 'https://seeded.net/only', found_by: 'operator', read: true },
  ])
  expect(await corpus().status()).toMatchObject({
    domains: { known: 2, visited: 2, waiting: 0 },
    pages: { read: 5, by_origin: { home: 1, link: 2, operator: 1, sitemap: 1 } },
    problems: [{ problem: 'answers 404', pages: 1, example: 'https://seeded.net/' }],
  })
  const again = await corpus().add(seedsOf('seeded.org', 'third.org', 'fourth.org'), { domains: 1 }, 'tester')
  expect(again.domains.map(({ state }) => state)).toEqual(['known', 'new', 'skipped'])
})

const record = (type: string, url: string, http: string, date = '2026-05-01T00:00:00Z') => {
  const block = Buffer.from(http)
  return Buffer.concat([
    Buffer.from(
      `WARC/1.0\r\nWARC-Type: ${type}\r\nWARC-Target-URI: ${url}\r\nWARC-Date: ${date}\r\nContent-Length: ${block.length}\r\n\r\n`,
    ),
    block,
    Buffer.from('\r\n\r\n'),
  ])
}
const answer = (body: string, more = '', status = '200 OK') =>
  `HTTP/1.1 ${status}\r\nContent-Type: text/html\r\n${more}\r\n${body}`

async function archive(name: string, records: readonly Buffer[], packed: boolean): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, Buffer.concat(packed ? records.map((one) => gzipSync(one)) : records))
  return path
}

const body = page('Archived')
const chunked = `${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n0\r\n\r\n`

test('pages of a WARC file are taken, and offered only where the site itself was visited and allows it today', async () => {
  const path = await archive(
    'pages.warc.gz',
    [
      record('warcinfo', 'urn:x', 'software: none'),
      record('request', 'https://old.org/one', 'GET / HTTP/1.1\r\n\r\n'),
      record('response', 'https://old.org/one', answer(body, 'ETag: "1"\r\n')),
      record('response', 'http://www.old.org/private/two', answer(chunked, 'Transfer-Encoding: chunked\r\n')),
      record('response', 'https://old.org/gone', answer('<p>gone</p>', '', '404 Not Found')),
      record('response', 'https://never.org/one', answer(body.replaceAll('Archived', 'Unreachable'))),
      record('response', 'https://192.0.2.1/one', answer(body)),
    ],
    true,
  )
  const progress: number[] = []
  const done = await corpus().importArchive(path, {}, ({ pages }) => progress.push(pages))
  expect(done).toEqual({
    answers: 5,
    pages: 3,
    domains: 2,
    skipped: { not_a_page: 1, unreadable: 0, known: 0, over_budget: 0, not_a_domain: 1 },
  })
  expect(progress.at(-1)).toBe(3)
  const offered = (domain: string, path: string) => findPage(world.db.database, domain, `https://${domain}${path}`)
  expect(await offered('old.org', '/one')).toBeUndefined()

  world.web.set('https://old.org/robots.txt', 'User-agent: *\nDisallow: /private/\n')
  world.web.set('https://old.org/one', ({ headers }) =>
    headers?.['if-none-match'] === '"1"' ? { status: 304 } : { body: page('Live') },
  )
  world.intercept = async (url) =>
    url.includes('never.org')
      ? { status: 'failed', reason: 'dns', detail: 'no such name', url, retryable: false }
      : undefined
  await crawl()
  expect(await offered('old.org', '/one')).toMatchObject({ title: 'Archived' })
  expect(await offered('old.org', '/private/two')).toBeUndefined()
  expect(await offered('never.org', '/one')).toBeUndefined()
  const twice = await corpus().importArchive(path, {}, () => {})
  expect(twice).toMatchObject({ pages: 0, skipped: { known: 3 } })
  const more = await archive(
    'more.warc',
    [record('response', 'https://old.org/private/x', answer(page('More')))],
    false,
  )
  expect(await corpus().importArchive(more, {}, () => {})).toMatchObject({ pages: 1 })
  expect(await offered('old.org', '/private/x')).toBeUndefined()
})

test('budgets end an import, and a broken archive is an error', async () => {
  const pages = Array.from({ length: 5 }, (_, n) =>
    record('response', `https://many.org/${n}`, answer(page(`Page ${n}`))),
  )
  const path = await archive('many.warc', pages, false)
  expect(await corpus().importArchive(path, { total: 2 }, () => {})).toMatchObject({
    pages: 2,
    skipped: { over_budget: 3 },
  })
  const broken = await archive(
    'broken.warc',
    [record('response', 'https://many.org/x', answer('x')).subarray(0, 120)],
    false,
  )
  await expect(corpus().importArchive(broken, {}, () => {})).rejects.toThrow('the file ends inside of a record')
  await expect(
    corpus().importArchive(await archive('text.warc', [Buffer.from('hello\r\n\r\n')], false), {}, () => {}),
  ).rejects.toThrow('this is not a WARC record')
})
