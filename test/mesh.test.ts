import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, expect, test, vi } from 'vitest'
import { runCli } from '../packages/cli/src/run-cli.ts'
import { createTestTerminal } from '../packages/cli/src/terminal.fixture.ts'
import {
  buyFrom,
  createAssayClient,
  discover,
  followNext,
  linkNext,
  readDemo,
  readDemoNetworks,
  readMesh,
  type Walk,
} from '../packages/sdk/src/index.ts'
import { type MeshDocument, openMesh, peerUrls, readMesh as readRaw } from './harness/mesh-nodes.ts'

// Waiting for others takes as long as the machine needs; each wait below has its own end.
vi.setConfig({ testTimeout: 150_000 })

const within = { timeout: 60_000, interval: 100 }
const mesh = await openMesh()
/** What an agent walks through, and enough for a manifest of several pages; the others have the till and the mesh. */
const shops = ['account', 'sandbox', 'tokens', 'subscriptions', 'mesh', 'log', 'sources', 'attestations', 'royalties']
const whole = await mesh.start({ ownShops: [...shops, 'match'] })
const second = await mesh.start({ peers: [whole.node.url] })
const third = await mesh.start({ peers: [second.node.url] })
const all: string[] = [whole, second, third].map((member) => member.node.url).sort()
for (const url of all)
  await vi.waitFor(async () => expect(await peerUrls(url)).toEqual(all.filter((other) => other !== url)), within)
afterAll(() => mesh?.close())

const report = 'token.control.report'
// biome-ignore lint/suspicious/noExplicitAny: documents are read by hand here
const jsonOf = async (response: Response): Promise<any> => response.json()
const statementIn = (document: MeshDocument, url: string) =>
  document.peers.find((peer) => peer.address === url)?.statement

test('a statement is passed on as it came, and the whole is signed', async () => {
  // A new one may be made between two looks.
  await expect
    .poll(async () => {
      const [own, listed] = await Promise.all([readRaw(whole.node.url), readRaw(third.node.url)])
      return statementIn(listed, whole.node.url) === own.node.statement
    }, within)
    .toBe(true)
  const document = await readMesh(third.node.url)
  expect(document.peers.map((peer) => peer.address).sort()).toEqual(all.filter((url) => url !== third.node.url))
  const forged = async (request: Request) => {
    const response = await fetch(request)
    if (!request.url.endsWith('/x402/mesh')) return response
    return new Response((await response.text()).replaceAll('"price_usd":"0.02"', '"price_usd":"0.01"'))
  }
  await expect(readMesh(third.node.url, { platform: { fetch: forged } })).rejects.toMatchObject({
    code: 'signature_invalid',
  })
})

test('the root manifest serves old readers and new ones, and so does the draft shape', async () => {
  const manifest = await jsonOf(await fetch(`${whole.node.url}/.well-known/x402`))
  expect(manifest).toMatchObject({
    version: 1,
    mesh: { protocol: '1.0.4', manifest: `${whole.node.url}/x402/mesh` },
    node: { did: `did:web:${new URL(whole.node.url).host.replace(':', '%3A')}`, keys: { algorithm: 'ed25519' } },
    facilitator: { kind: 'local' },
    royalty: { bps: 250, license: 'LicenseRef-Assay-1.0' },
    links: { openapi: `${whole.node.url}/openapi.json`, llms: `${whole.node.url}/llms.txt` },
  })
  expect(manifest.resources.length).toBeGreaterThan(5)
  const pages = [manifest]
  for (let next = manifest.next_page; next !== null; next = pages.at(-1).next_page) {
    const response = await fetch(next)
    const body = await response.text()
    expect(Buffer.byteLength(body), next).toBeLessThan(64 * 1024)
    pages.push(JSON.parse(body))
  }
  expect(Buffer.byteLength(JSON.stringify(manifest))).toBeLessThan(64 * 1024)
  expect(pages.map(({ page }) => page)).toEqual(pages.map((_, index) => index + 1))
  expect(manifest.pages).toBe(pages.length)
  expect(pages.length).toBeGreaterThan(2)
  const offers = pages.flatMap((page) => page.offers)
  const openapi = await jsonOf(await fetch(`${whole.node.url}/openapi/full.json`))
  const operations = Object.values<object>(openapi.paths).flatMap((methods) =>
    Object.keys(methods).filter((method) => /^(get|post|put|delete|patch)$/.test(method)),
  )
  expect(offers).toHaveLength(operations.length)
  expect((await fetch(`${whole.node.url}/.well-known/x402?page=${pages.length + 1}`)).status).toBe(404)
  const offer = offers.find((one: { capability: string }) => one.capability === report)
  expect(offer).toMatchObject({ method: 'GET', price_micro: '20000', price_usd: '0.02', access: 'paid' })
  expect(offer.output).toHaveProperty('type', 'object')
  const check = offers.find((one: { capability: string }) => one.capability === 'token.control.check')
  expect(check).toMatchObject({ access: 'free', price_micro: '0' })
  const draft = await jsonOf(await fetch(`${whole.node.url}/.well-known/x402.json`))
  expect(draft.x402Version).toBe(2)
  const item = draft.items.find((one: { resource: { url: string } }) => one.resource.url === offer.example)
  expect(item).toMatchObject({ type: 'http', input: { method: 'GET', routeTemplate: '/v1/report/:address' } })
  expect(item.accepts[0]).toMatchObject({ scheme: 'exact', network: 'eip155:8453', amount: '20000' })
  const { id } = await jsonOf(await fetch(`${whole.node.url}/.well-known/did.json`))
  expect(id).toBe(manifest.node.did)
})

test('what a node does not offer is named at a peer that does', async () => {
  const path = '/v1/report/0xb200000000000000000000000000000000000001'
  await expect
    .poll(async () => linkNext((await fetch(`${third.node.url}${path}`)).headers.get('link')), within)
    .toBe(`${whole.node.url}${path}`)
  const unknown = await fetch(`${third.node.url}/v1/nobody/has/this`)
  expect([unknown.status, unknown.headers.get('link'), unknown.headers.get('x-x402-next')]).toEqual([404, null, '/'])
})

test('an agent finds a peer through a node it knows, compares, and buys there', async () => {
  await expect
    .poll(async () => (await discover(report, { nodes: [third.node.url] })).best?.address, within)
    .toBe(whole.node.url)
  const { best, found } = await discover(report, { nodes: [third.node.url], networks: ['eip155:8453'] })
  expect(found).toHaveLength(1)
  if (best === undefined) throw new Error('nobody found')
  expect(best).toMatchObject({ priceUsd: '0.02', url: `${whole.node.url}/v1/report/{address}` })
  expect((await discover(report, { nodes: [third.node.url], maxPriceUsd: '0.01' })).best).toBeUndefined()
  const { demo } = (await (await fetch(whole.node.url)).json()) as { demo: { tokens: { address: string }[] } }
  const networks = await readDemoNetworks(whole.node.url)
  const account = await mesh.newBuyer()
  const token = demo.tokens[0]?.address ?? ''
  const result = await buyFrom(best, { account, networks, report: true }, { params: { address: token } })
  expect(result.response.status).toBe(200)
  expect(result.payment).toMatchObject({ status: 'settled', amountMicro: '20000' })
  expect(result.verified.status).toBe('verified')
  // The node that named the seller was notified, and passes it on to the others, where it ranks the seller.
  for (const { node } of [third, second, whole])
    await expect
      .poll(async () => {
        const answer = await jsonOf(await fetch(`${node.url}/x402/mesh/search?capability=${report}`))
        return answer.data[0]?.evidence.calls
      }, within)
      .toBe(1)
  expect(best.schema).toMatch(/^[\w-]{43}$/)
  expect((await discover(report, { nodes: [third.node.url] })).best?.why).toContain('1 paid call ')
  const echoes = async () => (await discover('sandbox.echo', { nodes: [second.node.url] })).found
  await expect.poll(async () => (await echoes()).map((node) => node.address).sort(), within).toEqual(all)
  await expect(discover(report, { nodes: ['http://127.0.0.1:1'] })).rejects.toMatchObject({ code: 'request_failed' })
})

test('following X-x402-Next leads from the manifest to a citation that is stamped, paying where asked', async () => {
  const { accounts } = await readDemo(whole.node.url)
  const key = accounts.find((one) => one.role === 'buyer')?.privateKey
  if (key === undefined) throw new Error('the demo lends no buyer')
  const account = privateKeyToAccount(key)
  const networks = await readDemoNetworks(whole.node.url)
  const client = createAssayClient({ account, networks, baseUrl: whole.node.url, maxPerCallUsd: '0.01' })
  const pageOf = (body: unknown) => (body as { data?: { url: string }[] } | undefined)?.data?.[0]?.url
  const walk = () =>
    followNext(client, whole.node.url, {
      input: ({ capability, steps }) => {
        if (capability === 'citations.match') return { body: { query: 'short squeeze' } }
        if (capability !== 'citations.attest') return undefined
        return { body: { source_url: pageOf(steps.at(-1)?.body), agent_wallet: account.address } }
      },
      until: (step) => step.capability === 'citations.attestation.show',
    })
  // The demo's sites are read in the background; a search finds them from then on.
  let steps: Walk['steps'] = []
  await vi.waitFor(
    async () => {
      const walked = await walk()
      expect(walked.ended, JSON.stringify(walked.steps.at(-1))).toBe('finished')
      steps = walked.steps
    },
    { timeout: 60_000, interval: 1_000 },
  )
  expect(steps.map((step) => [step.method, step.capability, step.status, step.paid])).toEqual([
    ['GET', undefined, 200, false],
    ['POST', 'citations.match', 200, true],
    ['POST', 'citations.attest', 200, true],
    ['GET', 'citations.attestation.show', 200, false],
  ])
  const [stamped, shown] = steps.slice(-2).map((step) => (step.body as { id?: string }).id)
  expect(shown).toBe(stamped)
})

test('the command line joins a node to the mesh, shows its peers and finds who offers what', async () => {
  const late = await mesh.start()
  const env = {
    DATABASE_URL: late.db.databaseUrl,
    BASE_RPC_URLS: mesh.base.url,
    POLYGON_RPC_URLS: mesh.polygon.url,
    USER: 'tester',
  }
  const assay = async (...args: string[]) => {
    const terminal = createTestTerminal({ env })
    const code = await runCli(['mesh', ...args], terminal)
    return { code, out: terminal.stdout(), err: terminal.stderr() }
  }
  const alone = await assay('peers', '--url', late.node.url)
  expect([alone.code, alone.out]).toEqual([0, expect.stringContaining('knows no peers')])
  const joined = await assay('join', second.node.url, '--json')
  expect([joined.code, JSON.parse(joined.out)]).toEqual([0, expect.objectContaining({ state: 'alive' })])
  expect((await assay('join', 'http://example.org')).code).toBe(2)
  await expect.poll(() => peerUrls(late.node.url), within).toEqual(all)
  const peers = await assay('peers', '--url', late.node.url, '--json')
  expect(JSON.parse(peers.out).data).toHaveLength(3)
  const found = await assay('find', report, '--url', late.node.url)
  expect([found.code, found.out]).toEqual([0, expect.stringContaining('0.02 USD')])
  expect((await assay('find', 'no.such.thing', '--url', late.node.url)).code).toBe(1)
  const buy = (...args: string[]) =>
    assay('buy', 'sandbox.echo', '--url', whole.node.url, '-q', 'message=hello', '--json', ...args)
  const bought = await buy('--demo', '--report')
  expect([bought.code, bought.err]).toEqual([0, expect.stringContaining('paid call')])
  expect(JSON.parse(bought.out)).toMatchObject({ payment: { status: 'settled' }, receipt: { status: 'verified' } })
  expect((await buy('--demo', '--max-amount', '0.000001')).code).toBe(1)
  expect((await buy()).code).toBe(2)
  await mesh.end(late)
})

test('a stranger in the name of a node is refused over the wire, and so is a word without signature', async () => {
  const { node } = await readRaw(second.node.url)
  const announce = (headers: Record<string, string>) =>
    fetch(`${third.node.url}/x402/mesh/announce`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ address: second.node.url, statement: node.statement }),
    })
  const bare = await announce({})
  expect([bare.status, (await jsonOf(bare)).code]).toEqual([401, 'proof_required'])
  const forged = await announce({ 'signature-input': 'mesh=("@method");tag="x402-mesh"', signature: 'mesh=:AA==:' })
  expect([forged.status, (await jsonOf(forged)).code]).toEqual([401, 'proof_invalid'])
})

test('a node that ends is dropped, and the others serve on', async () => {
  const short = await mesh.start({ peers: [second.node.url] })
  for (const url of all) await expect.poll(() => peerUrls(url), within).toContain(short.node.url)
  await mesh.end(short)
  for (const url of all) await expect.poll(() => peerUrls(url), within).not.toContain(short.node.url)
  expect((await fetch(`${second.node.url}/v1/sandbox/echo`)).status).toBe(402)
})
