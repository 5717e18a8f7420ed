import { expect, test } from 'vitest'
import type { Unavailable } from '../packages/node/src/http/index.ts'
import { sampleFiles } from '../packages/node/src/shops/matrix/demo/sample-files.fixture.ts'
import { ingestFile } from '../packages/node/src/shops/matrix/operator.ts'
import { createSymbolTable } from '../packages/node/src/shops/matrix/store/symbol-table.ts'
import type { Shop } from '../packages/node/src/shops/shop.ts'
import { type Clock, systemClock } from '../packages/till/src/kernel/clock.ts'
import { echoPath, openTill, quote, send, signPayment } from './harness/till-fixture.ts'
import { until } from './harness/until.ts'

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
