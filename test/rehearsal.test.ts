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

test('on an empty production node every paid route asks for money or says why it is not for sale', async () => {
  type Page = { offers: { id: string; not_available?: { why: string } }[]; next_page: string | null }
  const offers: Page['offers'] = []
  for (let url: string | null = at('/.well-known/x402'); url !== null; ) {
    const page = (await (await overProxy(url)).json()) as Page
    offers.push(...page.offers)
    url = page.next_page
  }
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
