import { createHash } from 'node:crypto'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runCli } from '../packages/cli/src/run-cli.ts'
import { createTestTerminal } from '../packages/cli/src/terminal.fixture.ts'
import type { Address } from '../packages/protocol/src/address.ts'
import { createAssayClient, type SourceRules, setSourceTerms } from '../packages/sdk/src/index.ts'
import { demoAccount } from '../packages/till/src/devnet/accounts.ts'
import { expectSoundBooks, spentOnChain } from './harness/invariants.ts'
import { type LocalSite, openLocalSite } from './harness/local-site.ts'
import { approvePermit2, permit2Buyer } from './harness/permit2-client.ts'
import { postJson } from './harness/post-json.ts'
import { sendTransaction } from './harness/send-transaction.ts'
import { buy, decodeHeader, openTill, quote, send, signPayment, type TillFixture } from './harness/till-fixture.ts'
import { until } from './harness/until.ts'

const words = 'Chickens lay fewer eggs in winter because the days are short. '
const pageOf = (text: string) =>
  `<html><head><title>Zebrafish farming</title></head><body><article><p>${text} ${words.repeat(8)}</p></article></body></html>`

let till: TillFixture
let site: LocalSite
beforeAll(async () => {
  site = await openLocalSite({ '/': pageOf('Zebrafish are striped.'), '/private': pageOf('Nobody may read this.') })
  site.files.set('/robots.txt', 'User-agent: *\nDisallow: /private\n')
  till = await openTill({
    ownShops: ['account', 'sandbox', 'log', 'sources', 'attestations', 'match'],
    env: { DEMO_HOSTS: `changing.test=127.0.0.1:${site.port}`, CITATIONS: '{"snapshot_minutes":0}' },
  })
})
afterAll(async () => {
  await till?.close()
  await site?.close()
})

type Matched = {
  query_id: string
  data: { url: string; domain: string; snippet: string; text_sha256: string; cite_score: number | null }[]
  understood: { unknown: string[]; suggestions: Record<string, string> }
  synthetic: boolean
}

type Whole = { content: string | null; terms: { content: boolean } }

const url = () => `${till.node.url}/v1/match`
async function match(body: unknown): Promise<{ status: number; answer: Matched }> {
  const response = await buy(await till.newBuyer(), url(), {}, postJson(body))
  return { status: response.status, answer: (await response.json()) as Matched }
}

/** The demo's sites are crawled in the background. */
async function untilIndexed(): Promise<void> {
  await until('ten pages', async () => {
    const sql = 'select count(*)::int as read from crawl_page where change_seq is not null'
    const { rows } = await till.db.owner.query<{ read: number }>(sql)
    return (rows[0]?.read ?? 0) >= 10
  })
  await until('they are indexed', async () => ((await match({ query: 'short squeeze' })).answer.data?.length ?? 0) > 1)
}

test('a paid match gives ranked pages of the demo sites, a few per domain, quotable and recorded', async () => {
  await untilIndexed()
  const { status, answer } = await match({ query: 'short squeeze' })
  expect(status).toBe(200)
  expect(answer.data.length).toBeGreaterThan(1)
  expect(answer.synthetic).toBe(true)
  for (const { domain } of answer.data)
    expect(answer.data.filter((other) => other.domain === domain).length).toBeLessThanOrEqual(3)
  const first = answer.data[0]
  const { rows } = await till.db.owner.query<{ text: string }>(
    `select text from page_version where url = $1 and text_sha256 = decode(substr($2, 3), 'hex')`,
    [first?.url, first?.text_sha256],
  )
  const squashed = (text: string) => text.replace(/\s+/g, ' ')
  expect(squashed(rows[0]?.text ?? '')).toContain(squashed(first?.snippet ?? 'nothing'))
  const recorded = await till.db.owner.query('select query from match_query where id = $1', [answer.query_id])
  expect(recorded.rows).toEqual([{ query: 'short squeeze' }])
})

test('a slip is suggested and not searched, and filters hold', async () => {
  const buyer = await till.newBuyer()
  const slipped = await buy(buyer, url(), {}, postJson({ query: 'sqeueze' }))
  expect([slipped.status, await slipped.json()]).toMatchObject([
    404,
    { code: 'no_match', understood: { unknown: ['sqeueze'], suggestions: { sqeueze: 'squeeze' } } },
  ])
  const found = await match({ query: 'squeeze' })
  const domain = found.answer.data[0]?.domain ?? ''
  const only = await match({ query: 'squeeze', domains: [domain], limit: 2 })
  expect(only.answer.data.every((page) => page.domain === domain)).toBe(true)
  expect(only.answer.data.length).toBeLessThanOrEqual(2)
  const scored = await match({ query: 'squeeze', min_score: 30 })
  for (const { cite_score } of scored.answer.data) expect(cite_score ?? 0).toBeGreaterThanOrEqual(30)
})

test('whole texts are given where their licence lets them be sold, and by upto what was given is charged', async () => {
  const payer = await till.newBuyer()
  await till.base.control.fund(payer.address.toLowerCase() as Address, { microUsdc: 0n })
  await sendTransaction(till.base, payer, { to: till.base.usdc, data: approvePermit2(10_000_000n) })
  const asked = postJson({ query: 'short squeeze', content: true, limit: 5 })
  const schemes = async (request: RequestInit) =>
    (await quote(url(), request)).accepts.map(({ scheme, amount }) => `${scheme} ${amount}`)
  expect(await schemes(asked)).toEqual(['exact 11000', 'upto 11000', 'credit 11000'])
  expect(await schemes(postJson({ query: 'short squeeze' }))).toEqual([
    ...['exact 1000', 'batch-settlement 1000', 'credit 1000'],
  ])
  const response = await permit2Buyer(payer)(url(), asked)
  expect(response.status).toBe(200)
  const { data } = (await response.json()) as { data: (Matched['data'][number] & Whole)[] }
  for (const { content, terms, text_sha256 } of data) {
    expect(content !== null).toBe(terms.content)
    if (content !== null) expect(`0x${createHash('sha256').update(content).digest('hex')}`).toBe(text_sha256)
  }
  const texts = data.flatMap(({ content }) => content ?? [])
  expect(texts.length).toBeGreaterThan(0)
  const charged = 1_000n + texts.reduce((sum, text) => sum + 100n * BigInt(Math.ceil(text.length / 1_000)), 0n)
  expect(await spentOnChain(till, 'base', payer.address)).toBe(charged)
  expect(decodeHeader(response.headers.get('payment-response'))).toMatchObject({ amount: charged.toString() })
  // A payment for the plain search does not buy the texts.
  const plain = await signPayment(payer, await quote(url(), postJson({ query: 'short squeeze' })))
  expect((await send(url(), plain, asked)).status).toBe(402)
})

test('what finds nothing or asks nothing is not charged', async () => {
  const buyer = await till.newBuyer()
  const spent = async () => {
    const { rows } = await till.db.owner.query<{ paid: number }>(
      `select count(*)::int as paid from payment where payer = $1 and state = 'served'`,
      [buyer.address.toLowerCase()],
    )
    return rows[0]?.paid
  }
  // Pages have "home" and "bake" nowhere and "how" everywhere: a question about bread is not one about tokens.
  for (const query of ['xylophonic zebrafish quux', 'How do I bake sourdough bread at home?', 'best bread recipe'])
    expect((await buy(buyer, url(), {}, postJson({ query }))).status).toBe(404)
  const nothing = await buy(buyer, url(), {}, postJson({ query: 'xylophonic zebrafish quux' }))
  expect([nothing.status, await nothing.json()]).toMatchObject([404, { code: 'no_match' }])
  const payload = await signPayment(buyer, await quote(url(), postJson({ query: 'squeeze' })))
  for (const query of ['', '  …!? ', 'the of and', 'a'.repeat(501), 7])
    expect((await send(url(), payload, postJson({ query }))).status).toBe(400)
  expect((await send(url(), payload, postJson({ query: 'squeeze', limit: 51 }))).status).toBe(400)
  expect(await spent()).toBe(0)
})

test('a page that changed since it was matched, that no match offered or that robots.txt keeps is not stamped and not charged', async () => {
  const buyer = await till.newBuyer()
  const registered = await fetch(
    `${till.node.url}/v1/sources/register`,
    postJson({ domain: 'changing.test', wallet: buyer.address }),
  )
  expect(registered.status).toBe(200)
  const query = { query: 'zebrafish', domains: ['changing.test'] }
  const found = await expect
    .poll(async () => match(query), { timeout: 40_000, interval: 500 })
    .toMatchObject({ status: 200 })
    .then(() => match(query))
  const [page, query_id] = [found.answer.data[0]?.url, found.answer.query_id]
  const attest = async (body: Record<string, unknown>) => {
    const request = postJson({ source_url: page, agent_wallet: buyer.address, ...body })
    const response = await buy(buyer, `${till.node.url}/v1/cite/attest`, {}, request)
    return [response.status, await response.json()] as const
  }
  expect(await attest({ query_id })).toMatchObject([200, { record: { query_id } }])
  site.files.set('/', pageOf('Zebrafish are spotted.'))
  const count = async () =>
    (await till.db.owner.query(`select count(*)::int as n from attestation`)).rows.concat(
      (await till.db.owner.query(`select count(*)::int as n from payment where state = 'served'`)).rows,
    )
  const before = await count()
  expect(await attest({ query_id })).toMatchObject([409, { code: 'page_changed' }])
  expect(await attest({ query_id: 'qry_06d1z8k4q2v7e9m3x5c0w8r2t4' })).toMatchObject([
    400,
    { code: 'input_invalid', problems: [{ field: 'query_id' }] },
  ])
  expect(await attest({ source_url: 'http://changing.test/private' })).toMatchObject([
    422,
    { code: 'page_unreadable', detail: expect.stringContaining('robots.txt forbids it') },
  ])
  expect(await count()).toEqual(before)
  expect(await attest({})).toMatchObject([200, { record: { query_id: null } }])
})

test('a proven creator sets prices and permissions: quotes, texts, shares and answers follow at once', async () => {
  const account = privateKeyToAccount(demoAccount('creator').privateKey)
  const client = createAssayClient({ account, networks: [], maxPerCallUsd: '0' })
  const { rows } = await till.db.owner.query<{ domain: string; url: string }>(
    `select p.domain, min(p.url) as url from crawl_page p join source s on s.domain = p.domain
     where s.state = 'proven' and p.facts is not null group by p.domain having count(*) > 2 order by 1 limit 1`,
  )
  const { domain, url: page } = rows[0] as (typeof rows)[number]
  const set = (rules: SourceRules) => setSourceTerms(client, till.node.url, { domain, rules, account })
  const cited = postJson({ source_url: page, agent_wallet: (await till.newBuyer()).address })
  const attest = `${till.node.url}/v1/cite/attest`
  await set([{ path: '/', attest_usd: '0.02', content: true, content_usd: '0.01' }])
  expect((await quote(attest, cited)).accepts[0]?.amount).toBe('20000')
  const payer = await till.newBuyer()
  const stamp = await buy(payer, attest, {}, postJson({ source_url: page, agent_wallet: payer.address }))
  expect([stamp.status, await stamp.json()]).toMatchObject([
    200,
    { split: { creator_micro: '18000', toll_micro: '2000' } },
  ])
  const text = await (await fetch(`${till.node.url}/v1/sources/${domain}/rsl.xml`)).text()
  expect(text).toContain('<payment type="crawl"><amount currency="USD">0.01</amount></payment>')

  const title = await till.db.owner.query<{ title: string }>(
    'select title from page_version where domain = $1 and url = $2 limit 1',
    [domain, page],
  )
  const query = { query: title.rows[0]?.title ?? '', domains: [domain], content: true, limit: 2 }
  type Priced = Matched['data'][number] & Whole & { price: { attest_micro: string; content_micro: string } }
  const whole = async (more: object) => (await match({ ...query, ...more })).answer.data as Priced[]
  await expect.poll(async () => (await match(query)).status, { timeout: 20_000 }).toBe(200)
  for (const { content } of await whole({})) expect(content).toBeNull()
  const earned = async () =>
    (
      await till.db.owner.query<{ micro: bigint }>(
        `select coalesce(sum(micro), 0)::bigint as micro from creator_accrual where subject like 'qry%' and domain = $1`,
        [domain],
      )
    ).rows[0]?.micro
  expect(await earned()).toBe(0n)
  const bought = await whole({ content_usd_max: '0.01' })
  expect(bought.length).toBeGreaterThan(0)
  for (const { content, price } of bought)
    expect([content?.length, price]).toMatchObject([
      expect.any(Number),
      { attest_micro: '20000', content_micro: '10000' },
    ])
  expect(await earned()).toBe(9_000n * BigInt(bought.length))
  const terminal = createTestTerminal()
  const earnings = ['creators', 'earnings', account.address, '--by', 'page', '--csv', '--url', till.node.url]
  expect(await runCli(earnings, terminal)).toBe(0)
  const usdOf = new Map(
    terminal
      .stdout()
      .trim()
      .split('\n')
      .map((line) => [line.split(',')[0], line.split(',').at(-1)]),
  )
  for (const { url } of bought) expect(Number(usdOf.get(url)), url).toBeGreaterThanOrEqual(0.009)
  await expectSoundBooks(till)

  await set([{ path: '/', crawl: false }])
  expect((await match(query)).status).toBe(404)
  const refused = await buy(payer, attest, {}, postJson({ source_url: page, agent_wallet: payer.address }))
  expect([refused.status, await refused.json()]).toMatchObject([403, { code: 'citation_not_allowed' }])
  await set([])
})

test('the command shows ranked pages to people and the same as JSON to programs', async () => {
  const args = ['match', 'short', 'squeeze', '--url', till.node.url, '--demo', '--explain']
  const terminal = createTestTerminal()
  expect(await runCli(args, terminal)).toBe(0)
  expect(terminal.stdout()).toMatch(/1\. .+\n +http.+\n +CiteScore \d+/)
  const json = createTestTerminal()
  expect(await runCli([...args, '--json'], json)).toBe(0)
  expect(JSON.parse(json.stdout())).toMatchObject({ query_id: expect.stringMatching(/^qry_/) })
})
