import { createPublicKey, verify } from 'node:crypto'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type LocalSite, openLocalSite } from './harness/local-site.ts'
import { postJson } from './harness/post-json.ts'
import { openTill, type TillFixture } from './harness/till-fixture.ts'
import { until } from './harness/until.ts'

const words = 'A passage of running text about how short interest is collected and published twice a month. '.repeat(12)
const poorPage = (title: string) =>
  `<html><head><title>${title}</title></head><body><p>${words}</p><a href="/two">two</a></body></html>`

let till: TillFixture
let site: LocalSite
const creator = privateKeyToAccount(generatePrivateKey())
const startedSeconds = Math.floor(Date.now() / 1000)
beforeAll(async () => {
  site = await openLocalSite({ '/': poorPage('One'), '/two': poorPage('Two') })
  till = await openTill({
    ownShops: ['account', 'sandbox', 'sources'],
    env: { DEMO_HOSTS: `my.test=127.0.0.1:${site.port}` },
  })
})
afterAll(async () => {
  await till?.close()
  await site?.close()
})

// biome-ignore lint/suspicious/noExplicitAny: the answers are checked member by member
type Answer = any

async function call(path: string, body?: unknown): Promise<{ status: number; body: Answer }> {
  const response = await fetch(`${till.node.url}${path}`, {
    ...(body === undefined ? {} : postJson(body)),
  })
  return { status: response.status, body: await response.json() }
}

const untilShown = (holds: (source: Answer) => boolean): Promise<Answer> =>
  until('the state of my.test', async () => {
    const { body } = await call(`/v1/sources/my.test?wallet=${creator.address}`)
    return holds(body) && body
  })

test('at ready the demo sites are proven, crawled and scored, and differ clearly', async () => {
  const index = (await call('/')).body
  expect(index.demo.sources.length).toBeGreaterThanOrEqual(5)
  const { data } = (await call('/v1/sources?limit=50')).body
  const demo = data.filter((source: Answer) => source.synthetic)
  expect(demo.length).toBe(index.demo.sources.length)
  for (const source of demo) expect(source).toMatchObject({ state: 'proven', cite_score: expect.any(Number) })
  const best = (await call('/v1/sources/token-control.test')).body
  const worst = (await call('/v1/sources/moon-signals.test')).body
  expect(best.cite_score - worst.cite_score).toBeGreaterThan(25)
  expect(best.crawl.pages_indexed).toBeGreaterThanOrEqual(4)
  expect(best.payout.state).toBe('active')
  expect(best.licence.kind).toBe('rsl')
})

test('a newcomer registers a site, proves it, watches the score, improves the site and sees the score rise', async () => {
  const registered = await call('/v1/sources/register', {
    domain: 'MY.test.',
    wallet: creator.address,
    contact: 'me@example.org',
  })
  expect(registered.status).toBe(200)
  expect(registered.body).toMatchObject({ domain: 'my.test', state: 'registered', cite_score: expect.any(Number) })
  const again = await call('/v1/sources/register', { domain: 'my.test', wallet: creator.address })
  expect(again.body.claim.prove).toEqual(registered.body.claim.prove)

  const early = await call('/v1/sources/my.test/verify', {})
  expect(early.body.state).toBe('proving')
  expect(early.body.next_steps[0]).toMatchObject({
    step: 'prove_domain',
    state: 'missing',
    fix: expect.stringContaining('citation-market.json'),
  })

  site.files.set('/.well-known/citation-market.json', JSON.stringify(registered.body.claim.prove.file.content))
  const signature = await creator.signTypedData(registered.body.claim.wallet_statement)
  const proven = await call('/v1/sources/my.test/verify', { wallet: creator.address, wallet_signature: signature })
  expect(proven.body).toMatchObject({
    state: 'proven',
    proof: { method: 'file' },
    payout: { state: 'active', wallet: creator.address },
  })

  const before = await untilShown(
    (source) =>
      source.crawl.pages_indexed === 2 &&
      source.score.components.some((part: Answer) => part.id === 'provenance' && part.known > 0.9),
  )
  expect(before.score.components.flatMap((part: Answer) => part.evidence)[0]).toMatchObject({
    url: expect.stringContaining('my.test'),
  })

  site.files.set('/robots.txt', 'User-agent: *\nAllow: /\nSitemap: http://my.test/sitemap.xml\n')
  site.files.set('/sitemap.xml', '<urlset><url><loc>http://my.test/two</loc></url></urlset>')
  for (const path of ['/', '/two'])
    site.files.set(
      path,
      `<html><head><title>Better</title><link rel="canonical" href="http://my.test${path}"><link rel="license" href="https://creativecommons.org/licenses/by/4.0/">
      <script type="application/ld+json">{"@type":"Article","author":{"name":"A. Writer"},"publisher":{"name":"My"},"datePublished":"${new Date().toISOString().slice(0, 10)}"}</script></head>
      <body><p>${words} <a href="http://token-control.test/who-can-mint">source</a></p><a href="/two">two</a> <a href="/corrections">Corrections</a> <a href="mailto:me@my.test">Contact</a></body></html>`,
    )
  await call('/v1/sources/my.test/verify', {})
  // The score may have risen by robots.txt and the sitemap already, while the pages are still to be read.
  const after = await untilShown(
    (source) => source.cite_score > before.cite_score + 10 && source.licence?.name !== undefined,
  )
  expect(after.licence).toMatchObject({ name: 'CC-BY-4.0' })
  expect(after.score.history.length).toBeGreaterThan(1)
  expect(site.requests.every(({ headers }) => headers['user-agent']?.startsWith('AssayBot/'))).toBe(true)
  expect(site.requests.every(({ headers }) => headers['signature-input']?.includes('tag="web-bot-auth"'))).toBe(true)
  expect(
    site.requests.every(({ headers }) => headers.cookie === undefined && headers.authorization === undefined),
  ).toBe(true)
}, 120_000)

test('a site can check by the published keys that a visit with our User-Agent is ours, made for it, and recent', async () => {
  const directory = await fetch(`${till.node.url}/.well-known/http-message-signatures-directory`)
  const { keys } = (await directory.json()) as { keys: { kid: string; x: string; kty: string; crv: string }[] }
  expect(site.requests.length).toBeGreaterThan(5)
  const nowSeconds = Date.now() / 1000
  for (const { headers } of site.requests) {
    const [, parameters = ''] = /^sig1=(.*)$/.exec(String(headers['signature-input'])) ?? []
    const [, keyId] = /;keyid="([^"]+)"/.exec(parameters) ?? []
    const [, created] = /;created=(\d+)/.exec(parameters) ?? []
    const key = keys.find(({ kid }) => kid === keyId)
    expect(headers['signature-agent']).toBe(`"${till.node.url}"`)
    expect(Number(created)).toBeGreaterThanOrEqual(startedSeconds)
    expect(Number(created)).toBeLessThanOrEqual(nowSeconds)
    const base = [
      `"@authority": ${headers.host}`,
      `"signature-agent": ${headers['signature-agent']}`,
      `"user-agent": ${headers['user-agent']}`,
      `"@signature-params": ${parameters}`,
    ].join('\n')
    const [, signature = ''] = /^sig1=:(.*):$/.exec(String(headers['signature'])) ?? []
    const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: key?.x ?? '' }, format: 'jwk' })
    expect(verify(null, Buffer.from(base), publicKey, Buffer.from(signature, 'base64'))).toBe(true)
  }
})

test('what is no source is refused with the reason, and unknown domains are 404', async () => {
  const refused = async (domain: string) =>
    (await call('/v1/sources/register', { domain, wallet: creator.address })).body
  expect(await refused('127.0.0.1')).toMatchObject({ code: 'domain_refused', reason: 'ip_address' })
  expect(await refused('localhost')).toMatchObject({ reason: 'reserved_name' })
  expect(await refused('co.uk')).toMatchObject({ reason: 'public_suffix' })
  expect(await refused('other.test')).toMatchObject({ reason: 'reserved_name' })
  expect(await refused('https://x.com')).toMatchObject({ reason: 'not_a_domain' })
  expect((await call('/v1/sources/never-seen.com')).status).toBe(404)
  expect((await call('/v1/sources/register', { domain: 'x.com', wallet: '0x12' })).status).toBe(400)
  expect((await call('/v1/sources?cursor=zzz')).status).toBe(400)
})

test('lists page without repeating and filter by state and score', async () => {
  const seen: string[] = []
  let cursor: string | null = null
  do {
    const { body } = await call(`/v1/sources?limit=2${cursor === null ? '' : `&cursor=${cursor}`}`)
    seen.push(...body.data.map((source: Answer) => source.domain))
    cursor = body.next_cursor
  } while (cursor !== null)
  expect(new Set(seen).size).toBe(seen.length)
  expect(seen.length).toBeGreaterThanOrEqual(6)
  const { body } = await call('/v1/sources?state=proven&score_min=60')
  expect(body.data.every((source: Answer) => source.cite_score >= 60 && source.state === 'proven')).toBe(true)
})
