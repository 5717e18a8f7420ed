import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runCli } from '../packages/cli/src/run-cli.ts'
import { createTestTerminal } from '../packages/cli/src/terminal.fixture.ts'
import {
  changeSourceWallet,
  createAssayClient,
  disputeSource,
  listSources,
  readSource,
  registerSource,
  type Source,
  verifySource,
} from '../packages/sdk/src/index.ts'
import { type LocalSite, openLocalSite } from './harness/local-site.ts'
import { openTill, type TillFixture } from './harness/till-fixture.ts'
import { until } from './harness/until.ts'

const words = 'A passage of running text about how short interest is collected and published twice a month. '.repeat(12)
const plain = `<html><head><title>Plain</title></head><body><p>${words}</p></body></html>`
const key = generatePrivateKey()
const creator = privateKeyToAccount(key)

let till: TillFixture
let site: LocalSite
let operatorEnv: NodeJS.ProcessEnv
beforeAll(async () => {
  site = await openLocalSite({ '/': plain })
  till = await openTill({
    ownShops: ['account', 'sandbox', 'sources'],
    env: { DEMO_HOSTS: `cli.test=127.0.0.1:${site.port},sdk.test=127.0.0.1:${site.port}` },
  })
  operatorEnv = {
    DATABASE_URL: till.db.databaseUrl,
    BASE_RPC_URLS: till.base.url,
    POLYGON_RPC_URLS: till.polygon.url,
    BASE_URL: till.node.url,
    USER: 'tester',
  }
})
afterAll(async () => {
  await till?.close()
  await site?.close()
})

async function assay(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const terminal = createTestTerminal({ env })
  const code = await runCli(args, terminal)
  return { code, out: terminal.stdout(), err: terminal.stderr() }
}
const source = (...args: string[]) => assay(['source', ...args, '--url', till.node.url])

const untilShown = (domain: string, holds: (source: Source) => boolean): Promise<Source> =>
  until(`the state of ${domain}`, async () => {
    const { out } = await source('status', domain, '--json')
    const shown = JSON.parse(out) as Source
    return holds(shown) && shown
  })

test('a creator registers, proves, signs, reads the advice, follows it, and sees the score rise, all with `assay source`', async () => {
  const registered = await source('register', 'cli.test', '--wallet', creator.address, '--contact', 'me@example.org')
  expect(registered).toMatchObject({ code: 0, err: '' })
  expect(registered.out).toMatch(/^cli\.test {2}registered\nCiteScore {2}\d+/)
  const [, content = ''] = /^ {6}(\{"version":"cm1".*\})$/m.exec(registered.out) ?? []
  const early = await source('verify', 'cli.test')
  expect(early.out).toMatch(/^cli\.test {2}proving/)
  expect(early.out).toContain('answers 404')

  site.files.set('/.well-known/citation-market.json', content)
  const proven = await assay(['source', 'verify', 'cli.test', '--sign', '--url', till.node.url], { ASSAY_KEY: key })
  expect(proven.code).toBe(0)
  expect(proven.out).toMatch(/^cli\.test {2}proven/)
  expect(proven.out).toContain(`payout     active ${creator.address}`)

  const before = await untilShown('cli.test', (shown) => (shown.score?.components[1]?.known ?? 0) > 0.9)
  const status = await source('status', 'cli.test', '--wallet', creator.address)
  expect(status.out).toMatch(/provenance +\d\.\d\d/)
  expect(status.out).toMatch(/machine_readability: text {2}http:\/\/cli\.test\/ {2}sha256 0x/)
  expect(status.out).toMatch(/\+ *\d+\.\d {2}\S/)

  site.files.set('/robots.txt', 'User-agent: *\nAllow: /\n')
  site.files.set(
    '/',
    `<html><head><title>Better</title><link rel="canonical" href="http://cli.test/"><link rel="license" href="https://creativecommons.org/licenses/by/4.0/"><meta name="author" content="A. Writer"></head><body><p>${words}</p><a href="mailto:a@cli.test">contact</a></body></html>`,
  )
  expect((await source('verify', 'cli.test')).code).toBe(0)
  await untilShown('cli.test', (shown) => (shown.cite_score ?? 0) > (before.cite_score ?? 0) + 5)
})

test('a creator sets prices and permissions by path with `assay source terms`, sees them, and drops one', async () => {
  const terms = (...args: string[]) =>
    assay(['source', 'terms', 'cli.test', '--url', till.node.url, ...args], { ASSAY_KEY: key })
  expect((await source('terms', 'cli.test')).out).toContain('No rule is set')
  const priced = await terms('--path', '/', '--attest-usd', '0.02', '--content-usd', '0.1')
  expect(priced).toMatchObject({ code: 0, err: '' })
  expect((await terms('--path', '/private/', '--no-crawl')).code).toBe(0)
  expect((await terms('--path', '/links/', '--no-snippet', '--no-attest')).code).toBe(0)
  const rowsOf = (out: string) =>
    out.split('\n').flatMap((line) => (line.startsWith('/') ? [line.trim().split(/\s{2,}/)] : []))
  // Anybody can read them, and they are published as RSL.
  const shown = await source('terms', 'cli.test')
  expect(rowsOf(shown.out)).toEqual([
    ['/', 'yes', 'yes', '0.02 USD', '0.1 USD'],
    ['/private/', 'no', 'no', 'no', 'no'],
    ['/links/', 'yes', 'no', 'no', 'no'],
  ])
  const [rsl = ''] = /http\S+rsl\.xml/.exec(shown.out) ?? []
  expect(await (await fetch(rsl)).text()).toContain('<amount currency="USD">0.02</amount>')
  const dropped = await terms('--remove', '/private/', '--json')
  expect(JSON.parse(dropped.out).rules.map(({ path }: { path: string }) => path)).toEqual(['/', '/links/'])
  expect(await terms('--remove', '/private/')).toMatchObject({ code: 2, err: expect.stringContaining('has no rule') })
  const dear = await terms('--path', '/', '--attest-usd', '2')
  expect([dear.code, dear.err]).toEqual([1, expect.stringContaining('0.005 to 1')])
  const stranger = { ASSAY_KEY: generatePrivateKey() }
  const refused = await assay(['source', 'terms', 'cli.test', '--url', till.node.url, '--path', '/'], stranger)
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('not the one paid now')])
  expect(rowsOf((await source('terms', 'cli.test')).out)).toHaveLength(2)
})

test('an operator adds a site to the corpus and sees how far its pages are', async () => {
  const added = await assay(['corpus', 'add', 'http://cli.test/', 'nowhere.invalid', '--pages', '5', '--json'], {
    ...operatorEnv,
    DEMO_HOSTS: `cli.test=127.0.0.1:${site.port}`,
  })
  expect(added).toMatchObject({ code: 0, err: '' })
  expect(JSON.parse(added.out).domains).toMatchObject([
    { domain: 'cli.test', state: 'known' },
    { domain: 'nowhere.invalid', state: 'skipped' },
  ])
  const status = await assay(['corpus', 'status'], operatorEnv)
  expect(status.out).toMatch(/^domains {2}\d+ known, .*\npages {4}\d+ known, \d+ read/)
  expect(await assay(['corpus', 'add', 'no such thing'], operatorEnv)).toMatchObject({ code: 2 })
})

test('what cannot be done is reported with the exit code and the problem', async () => {
  const refused = await source('register', '127.0.0.1', '--wallet', creator.address)
  expect(refused.code).not.toBe(0)
  expect(refused.err).toContain('not an IP address')
  expect((await source('status', 'never-seen.com')).err).toContain('not registered')
  expect((await source('register', 'x.com', '--wallet', '0x12')).code).not.toBe(0)
  expect(
    (await source('verify', 'cli.test', '--wallet', privateKeyToAccount(generatePrivateKey()).address)).out,
  ).toMatch(/belongs to another claim/)
})

test('the same with the SDK, and the wallet that is paid now signs for its successor', async () => {
  const client = createAssayClient({ account: creator, networks: [], maxPerCallUsd: '0' })
  const node = till.node.url
  const registered = await registerSource(client, node, { domain: 'sdk.test', wallet: creator.address })
  expect(registered).toMatchObject({ state: 'registered', claim: { wallet_proven: false } })
  site.files.set('/.well-known/citation-market.json', JSON.stringify(registered.claim?.prove.file.content))
  expect(await verifySource(client, node, 'sdk.test', { account: creator })).toMatchObject({
    state: 'proven',
    payout: { state: 'active', wallet: creator.address },
  })
  const next = privateKeyToAccount(generatePrivateKey())
  const change = await changeSourceWallet(client, node, 'sdk.test', { wallet: next.address, current: creator })
  expect(change).toMatchObject({ state: 'proven', claim: { state: 'open', wallet: next.address } })
  const content = registered.claim?.prove.file.content as { claims: unknown[] }
  const added = change.claim?.prove.file.content as { claims: unknown[] }
  site.files.set(
    '/.well-known/citation-market.json',
    JSON.stringify({ ...content, claims: [...content.claims, ...added.claims] }),
  )
  const waiting = await verifySource(client, node, 'sdk.test', { account: next })
  expect(waiting).toMatchObject({ state: 'proven', claim: { state: 'waiting' }, payout: { wallet: creator.address } })
  const waitMs = Date.parse(waiting.claim?.takes_over_at ?? '') - Date.now()
  expect(waitMs).toBeGreaterThan(2.9 * 86_400_000)
  expect(waitMs).toBeLessThan(3.1 * 86_400_000)
  await expect(changeSourceWallet(client, node, 'sdk.test', { wallet: next.address, current: next })).rejects.toThrow(
    /not the one paid now/,
  )
  expect((await readSource(client, node, 'sdk.test')).claim).toBeNull()
  const { data } = await listSources(client, node, { state: 'proven', limit: 100 })
  expect(data.map(({ domain }) => domain)).toContain('sdk.test')
})

test('a contest reaches the operator, who decides it; a harmful domain is refused and admitted again', async () => {
  const client = createAssayClient({ account: creator, networks: [], maxPerCallUsd: '0' })
  const statement = 'This is a copy \u001b[31mof another article.'
  const { id } = await disputeSource(client, till.node.url, 'sdk.test', { kind: 'content', statement })
  const operator = (...args: string[]) => assay(['source', ...args], operatorEnv)
  const listed = await operator('disputes', 'list')
  expect(listed.out).toContain(id)
  expect(listed.out).not.toContain('\u001b')
  expect((await operator('disputes', 'decide', id, 'maybe', '--reason', 'x')).code).not.toBe(0)
  expect((await operator('disputes', 'decide', id, 'pending', '--reason', 'looking')).code).toBe(0)
  await untilShown('sdk.test', (shown) => shown.score?.gate.value === 0.5)
  expect((await operator('disputes', 'decide', id, 'rejected', '--reason', 'it is not')).code).toBe(0)
  await untilShown('sdk.test', (shown) => shown.score?.gate.value === 1)
  expect((await operator('disputes', 'decide', id, 'upheld', '--reason', 'again')).err).toContain('rejected before')
  expect((await operator('ban', 'sdk.test', '--reason', 'phishing')).out).toContain('refused')
  await untilShown('sdk.test', (shown) => shown.cite_score === 0 && shown.state === 'refused')
  expect((await operator('unban', 'sdk.test', '--reason', 'a mistake')).out).toContain('proven')
  expect((await operator('ban', 'never-seen.com', '--reason', 'x')).code).not.toBe(0)
})
