import { silentLog } from '@assay/till/kernel/log'
import { systemRng } from '@assay/till/kernel/random'
import { createTokenMaker } from '@assay/till/signing'
import { openTestDatabase, type TestDatabase } from '@assay/till/store/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ShopContext } from '../../http/index.ts'
import { outageJob } from './give-time-back.ts'
import { grantPeriod, revokeToken } from './grant-period.ts'
import { type Product, periodMs } from './policy.ts'
import { findSubscription } from './store.ts'

let db: TestDatabase
beforeAll(async () => {
  db = await openTestDatabase()
})
afterAll(() => db.close())

const tokens = createTokenMaker(systemRng, 'asub')
const startMs = Date.UTC(2026, 0, 1)
const minute = 60_000
const walletOf = (number: number) => `0x${number.toString(16).padStart(40, '0')}` as const

async function subscribe(number: number, product: Product, boughtAtMs = startMs) {
  const wallet = walletOf(number)
  const tier = product === 'feeds' ? ('vip' as const) : ('stream' as const)
  const prices = { standardMicro: 1_000_000n, vipMicro: 1_000_000n, network: 'eip155:8453' }
  const purchase = { paymentId: `pay_${product}_${number}`, round: 0, wallet, product, tier, boughtAtMs, ...prices }
  await db.database.transaction((tx) => grantPeriod(tx, tokens, purchase, boughtAtMs))
  return wallet
}

function watch(product: Product) {
  const state = { nowMs: startMs, down: 0, of: 2 }
  const context = { database: db.database, log: silentLog, clock: { nowMs: () => state.nowMs } }
  const job = outageJob(context as unknown as ShopContext, product, () => ({ down: state.down, of: state.of }))
  return async (nowMs: number, down: number) => {
    Object.assign(state, { nowMs, down })
    await job.work()
  }
}

test('subscribers get the time of an outage back in proportion, once it is over, and the status says so', async () => {
  const wallet = await subscribe(1, 'feeds')
  const look = watch('feeds')
  await look(startMs + 10 * minute, 1)
  await look(startMs + 40 * minute, 1)
  expect((await findSubscription(db.database, wallet))?.untilMs).toBe(startMs + periodMs)
  await look(startMs + 70 * minute, 0)
  await look(startMs + 90 * minute, 0)
  expect(await findSubscription(db.database, wallet)).toMatchObject({
    untilMs: startMs + periodMs + 30 * minute,
    extendedMs: 30 * minute,
  })
})

test('more going down during an outage counts from then on', async () => {
  const wallet = await subscribe(2, 'stream')
  const look = watch('stream')
  await look(startMs + 10 * minute, 1)
  await look(startMs + 20 * minute, 2)
  await look(startMs + 30 * minute, 0)
  expect((await findSubscription(db.database, wallet, 'stream'))?.untilMs).toBe(startMs + periodMs + 15 * minute)
})

test('nobody runs out of time while all of it is down, and a revoked token stays revoked', async () => {
  const laterMs = startMs + 365 * 24 * 60 * minute
  const bought = laterMs - periodMs + 100 * minute
  const wallet = await subscribe(3, 'stream', bought)
  await db.database.transaction((tx) => revokeToken(tx, wallet, bought, 'stream'))
  const look = watch('stream')
  for (let at = 50; at <= 150; at += 1) await look(laterMs + at * minute, 2)
  const during = await findSubscription(db.database, wallet, 'stream')
  expect(during?.untilMs).toBeGreaterThan(laterMs + 150 * minute)
  expect(during?.tokenHash).toBeNull()
  await look(laterMs + 200 * minute, 0)
  expect((await findSubscription(db.database, wallet, 'stream'))?.untilMs).toBe(laterMs + 250 * minute)
})
