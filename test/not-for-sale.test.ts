import { request } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Unavailable } from '../packages/node/src/http/index.ts'
import { sampleFiles } from '../packages/node/src/shops/matrix/demo/sample-files.fixture.ts'
import { ingestFile } from '../packages/node/src/shops/matrix/operator.ts'
import { createSymbolTable } from '../packages/node/src/shops/matrix/store/symbol-table.ts'
import type { Shop } from '../packages/node/src/shops/shop.ts'
import type { Devnet } from '../packages/till/src/devnet/index.ts'
import { type Clock, systemClock } from '../packages/till/src/kernel/clock.ts'
import { silentLog } from '../packages/till/src/kernel/log.ts'
import { type ProductionNode, productionOrigin, startProductionNode } from './harness/production-node.ts'
import { startChain } from './harness/start-chain.ts'
import { echoPath, openTill, quote, send, signPayment } from './harness/till-fixture.ts'
import { until } from './harness/until.ts'

let chains: [Devnet, Devnet]
let node: ProductionNode
beforeAll(async () => {
  const ports = { clock: systemClock, log: silentLog, port: 0 }
  chains = [await startChain({ chainId: 8453, ...ports }), await startChain({ chainId: 137, ...ports })]
  node = await startProductionNode(chains, { ownShops: 'all' })
}, 120_000)
afterAll(async () => {
  await node?.stop()
  for (const chain of chains ?? []) await chain.stop()
})

type Answer = { status: number; json: Record<string, unknown> }

/** Under the name that buyers know the node by. */
function ask(path: string, method = 'GET', body?: string): Promise<Answer> {
  const headers = { host: new URL(productionOrigin).host, ...(body && { 'content-type': 'application/json' }) }
  return new Promise((resolve, reject) => {
    const sent = request(`${node.address}${path}`, { method, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, json: JSON.parse(Buffer.concat(chunks).toString('utf8')) }),
      )
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

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
  const match = await ask('/v1/match', 'POST', '{"query":"bread"}')
  expect([match.status, match.json['code'], match.json['why']]).toEqual([503, 'not_available', 'no_pages'])
  expect((await ask('/matrix/nosuch/live')).status).toBe(404)
  const { json } = await ask('/matrix/ftd/live')
  expect(json['missing']).toEqual([{ source: 'sec-fails', why: 'not fetched by this node' }])
})

type Offer = { id: string; not_available?: { why: string } }

/** Of every page of the manifest. */
async function allOffers(): Promise<Offer[]> {
  const offers: Offer[] = []
  let page: string | null = '/.well-known/x402'
  while (page !== null) {
    const { json } = await ask(page)
    offers.push(...(json['offers'] as Offer[]))
    const next: unknown = json['next_page']
    const { pathname, search } = new URL(String(next ?? ''), 'http://node.test')
    page = typeof next === 'string' ? pathname + search : null
  }
  return offers
}

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

test('a feed that missed its schedule is not for sale', async () => {
  let aheadMs = 0
  const clock: Clock = { ...systemClock, nowMs: () => systemClock.nowMs() + aheadMs }
  const till = await openTill({ ownShops: ['account', 'sandbox', 'matrix', 'subscriptions'], clock })
  try {
    const deps = { database: till.db.database, clock, symbols: createSymbolTable() }
    for (const { file, source } of sampleFiles)
      await ingestFile(deps, { ...file, source, availableAtMs: clock.nowMs() - 7_200_000 })
    const url = `${till.node.url}/matrix/ftd/live?limit=3`
    await until('the feed is for sale', async () => (await fetch(url)).status === 402)
    aheadMs = 90 * 86_400_000
    const refused = await fetch(url)
    expect([refused.status, await refused.json()]).toMatchObject([503, { code: 'not_available', why: 'stale' }])
  } finally {
    await till.close()
  }
}, 120_000)

test('a payment for what went out of sale takes nothing, and buys it once it is for sale again', async () => {
  let reason: Unavailable | undefined
  const switchable = (shop: Shop): Shop => ({
    ...shop,
    routes: shop.routes.map((route) =>
      route.access.kind === 'paid' ? { ...route, access: { ...route.access, unavailable: () => reason } } : route,
    ),
  })
  const till = await openTill({ ownShops: ['account', 'sandbox'], intercept: { shop: switchable } })
  try {
    const url = `${till.node.url}${echoPath}`
    const buyer = await till.newBuyer()
    const payment = await signPayment(buyer, await quote(url))
    reason = { why: 'no_data', detail: 'Nothing came.', sinceMs: Date.now() }
    const refused = await send(url, payment)
    expect([refused.status, await refused.json()]).toMatchObject([503, { code: 'not_available', why: 'no_data' }])
    expect((await fetch(url)).status).toBe(503)
    const states = await till.db.database.query<{ state: string }>('select state from payment')
    expect(states.rows.map(({ state }) => state)).toEqual(['released'])
    reason = undefined
    expect((await send(url, payment)).status).toBe(200)
    reason = { why: 'no_data', detail: 'Nothing came.', sinceMs: Date.now() }
    // What was paid for before is still explained as such, not as out of sale.
    expect((await send(url, payment)).status).toBe(409)
  } finally {
    await till.close()
  }
}, 120_000)
