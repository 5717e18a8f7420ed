import { request } from 'node:http'
import { ExactEvmScheme } from '@x402/evm'
import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkPorts } from '../packages/cli/src/doctor/ports.ts'
import { sampleFiles } from '../packages/node/src/shops/matrix/demo/sample-files.fixture.ts'
import { ingestFile } from '../packages/node/src/shops/matrix/operator.ts'
import { createSymbolTable } from '../packages/node/src/shops/matrix/store/symbol-table.ts'
import { seedDemoTokens } from '../packages/node/src/shops/tokens/demo/seed-tokens.ts'
import type { Address } from '../packages/protocol/src/address.ts'
import type { Rpc } from '../packages/till/src/chain/index.ts'
import type { Devnet } from '../packages/till/src/devnet/index.ts'
import { systemClock } from '../packages/till/src/kernel/clock.ts'
import { silentLog } from '../packages/till/src/kernel/log.ts'
import { systemRng } from '../packages/till/src/kernel/random.ts'
import { createDatabase } from '../packages/till/src/store/pool.ts'
import { postJson } from './harness/post-json.ts'
import { type ProductionNode, productionOrigin, startProductionNode } from './harness/production-node.ts'
import { startChain } from './harness/start-chain.ts'
import { until } from './harness/until.ts'

// The part of `npm run rehearse` that fits into every test run: production mode, every shop, chains as old as the real ones.

let chains: [Devnet, Devnet]
let node: ProductionNode
let token: string
const buyer = privateKeyToAccount(generatePrivateKey())

beforeAll(async () => {
  const ports = { clock: systemClock, log: silentLog, port: 0 }
  chains = [
    await startChain({ chainId: 8453, emptyBlocks: 53_000_000, ...ports }),
    await startChain({ chainId: 137, emptyBlocks: 88_000_000, ...ports }),
  ]
  token = (await makeTokens(chains[0]))[0]?.address ?? ''
  node = await startProductionNode(chains, { ownShops: 'all', env: { SANDBOX: 'true' } })
  await node.fund(buyer.address.toLowerCase() as Address, 10_000_000_000n)
}, 240_000)
afterAll(async () => {
  await node?.stop()
  for (const chain of chains ?? []) await chain.stop()
})

function makeTokens(chain: Devnet) {
  const rpc = {
    first: (method: string, params: readonly unknown[]) => chain.request(method, params),
    batch: (calls: readonly { method: string; params: readonly unknown[] }[]) =>
      Promise.all(calls.map(({ method, params }) => chain.request(method, params))),
  }
  return seedDemoTokens(rpc as unknown as Rpc, 8453, Math.floor(systemClock.nowMs() / 1000))
}

/** Under the name that buyers know the node by, as a proxy in front of it would. */
const overProxy: typeof fetch = async (input, init) => {
  const asked = new Request(input as Request, init)
  const body = Buffer.from(await asked.arrayBuffer())
  const { host, pathname, search } = new URL(asked.url)
  return new Promise((resolve, reject) => {
    const headers = { ...Object.fromEntries(asked.headers), host }
    const sent = request(`${node.address}${pathname}${search}`, { method: asked.method, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () =>
        resolve(
          new Response(Buffer.concat(chunks), {
            status: response.statusCode ?? 0,
            headers: response.headers as Record<string, string>,
          }),
        ),
      )
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

const at = (path: string) => `${productionOrigin}${path}`

function buy(path: string, network = 'eip155:8453'): Promise<Response> {
  const client = x402Client.fromConfig({
    schemes: [{ network: network as `${string}:${string}`, client: new ExactEvmScheme(buyer) }],
    // It pays at most a dollar unless an option allows more.
    spendControls: false,
  })
  return wrapFetchWithPayment(overProxy, client)(at(path))
}

async function importSamples(): Promise<void> {
  const ports = { clock: systemClock, rng: systemRng, log: silentLog }
  const database = createDatabase({ target: { url: node.databaseUrl }, poolSize: 2, ...ports })
  const deps = { database, clock: systemClock, symbols: createSymbolTable() }
  for (const { file, source } of sampleFiles)
    await ingestFile(deps, { ...file, source, availableAtMs: systemClock.nowMs() - 7_200_000 })
  await database.close()
}

type Answer = { status: number; json: Record<string, unknown> }

async function ask(path: string, init: RequestInit = {}): Promise<Answer> {
  const response = await overProxy(at(path), init)
  return { status: response.status, json: (await response.json()) as Answer['json'] }
}

type Offer = { id: string; not_available?: { why: string } }

/** Of every page of the manifest. */
async function allOffers(): Promise<Offer[]> {
  const offers: Offer[] = []
  for (let url: string | null = at('/.well-known/x402'); url !== null; ) {
    const page = (await (await overProxy(url)).json()) as { offers: Offer[]; next_page: string | null }
    offers.push(...page.offers)
    url = page.next_page
  }
  return offers
}

test('on an empty production node every paid route asks for money or says why it is not for sale', async () => {
  const offers = await allOffers()
  const ids = offers.map(({ id }) => id)
  expect(ids).toEqual(
    expect.arrayContaining([
      'tokens.report',
      'matrix.live',
      'subscriptions.vip.polygon',
      'citations.match',
      'cite.attest',
      'royalties.remit',
      'market.intents.stream',
      'credit.topup',
    ]),
  )
  const unsold = Object.fromEntries(offers.flatMap(({ id, not_available: no }) => (no ? [[id, no.why]] : [])))
  expect(unsold).toMatchObject({ 'matrix.live': 'no_feed', 'market.intents.stream': 'no_signal' })
  for (const id of ['tokens.report', 'credit.topup', 'cite.attest']) expect(unsold).not.toHaveProperty(id)
})

test('a production node on its first day sells nothing empty and says why and since when', async () => {
  const expected: [string, string][] = [
    ['/matrix/squeeze/live', 'no_data'],
    ['/matrix/ftd/vip', 'no_data'],
    ['/matrix/borrow/live', 'no_licence'],
    ['/matrix/subscribe/standard', 'no_feed'],
    ['/poly/matrix/subscribe/vip', 'no_feed'],
    ['/v1/market/intent-stream', 'no_signal'],
  ]
  for (const [path, why] of expected) {
    const { status, json } = await ask(path)
    expect([path, status, json['code'], json['why']]).toEqual([path, 503, 'not_available', why])
    expect(Date.parse(String(json['since']))).toBeLessThanOrEqual(Date.now())
  }
  const { json: subscribing } = await ask('/matrix/subscribe/standard')
  expect(subscribing['detail']).toMatch(/Not fetched \(MATRIX, CONTACT_EMAIL\): [^.]*sec-fails/)
  expect(subscribing['detail']).toMatch(/LICENCES has no line for (?![^.]*sec-fails)[^.]*finra-short-interest/)
  const match = await ask('/v1/match', postJson({ query: 'bread' }))
  expect([match.status, match.json['code'], match.json['why']]).toEqual([503, 'not_available', 'no_pages'])
  expect((await ask('/matrix/nosuch/live')).status).toBe(404)
  const { json } = await ask('/matrix/ftd/live')
  expect(json['missing']).toEqual([{ source: 'sec-fails', why: 'not fetched by this node' }])
})

test('what works is sold all the same, and readiness tells them apart', async () => {
  const ready = await ask('/readyz')
  expect(ready.status).toBe(200)
  const unsold = (ready.json['not_for_sale'] as { route: string }[]).map(({ route }) => route)
  const [feeds] = (ready.json['not_for_sale'] as { detail: string }[]).filter(({ detail }) => detail.includes('feeds'))
  expect(feeds?.detail).toContain('LICENCES has no line for finra-short-interest')
  expect(unsold).toEqual(expect.arrayContaining(['matrix.live', 'subscriptions.vip.base', 'market.intents.stream']))
  expect((await ask('/v1/credit/topup?amount_usd=5')).status).toBe(402)
  const offers = await allOffers()
  expect(offers.find(({ id }) => id === 'matrix.live')?.not_available?.why).toBe('no_feed')
  const topUps = offers.filter(({ id }) => id.startsWith('credit.topup'))
  expect(topUps).not.toEqual([])
  for (const topUp of topUps) expect(topUp).not.toHaveProperty('not_available')
  const openapi = await ask('/openapi/full.json')
  expect(JSON.stringify(openapi.json)).toContain('x-not-available')
})

test('the doctor beside a production node finds it at its port, under whatever name buyers know it', async () => {
  const { hostname, port } = new URL(node.address)
  const checks = await checkPorts({ host: hostname, port: Number(port), mode: 'production', networks: [] } as never)
  expect(checks).toMatchObject([{ status: 'ok', detail: 'a node is running there' }])
})

test('the stock client buys in every shop that has something to sell, on both chains', async () => {
  await importSamples()
  await until('the feed is for sale', async () => (await overProxy(at('/matrix/ftd/live'))).status === 402)
  const unpaid = async (path: string) =>
    ((await (await overProxy(at(path))).json()) as { data_state: unknown }).data_state
  const ftd = { feed: 'ftd', as_of: expect.any(String), coverage_pct: expect.any(Number), missing: expect.any(Array) }
  expect(await unpaid('/matrix/ftd/live')).toMatchObject(ftd)
  expect(await unpaid('/matrix/subscribe/standard')).toMatchObject({
    feeds: expect.arrayContaining([expect.objectContaining(ftd)]),
  })
  const bought: [string, string?][] = [
    ['/v1/sandbox/echo?message=hello'],
    ['/v1/credit/topup?usd=5'],
    ['/v1/credit/topup?usd=5', 'eip155:137'],
    [`/v1/report/${token}`],
    ['/matrix/ftd/live?limit=3'],
    ['/matrix/ftd/vip?limit=3'],
    ['/matrix/subscribe/standard'],
    ['/poly/matrix/subscribe/vip', 'eip155:137'],
  ]
  for (const [path, network] of bought) {
    const response = await buy(path, network)
    const text = await response.text()
    expect([path, response.status, response.status === 200 ? '' : text]).toEqual([path, 200, ''])
    expect(response.headers.get('signature')).not.toBeNull()
  }
}, 120_000)
