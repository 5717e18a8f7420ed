import { systemClock } from '@assay/till/kernel/clock'
import { silentLog } from '@assay/till/kernel/log'
import { silentMetrics } from '@assay/till/kernel/metrics'
import { systemRng } from '@assay/till/kernel/random'
import { createTokenMaker } from '@assay/till/signing'
import { recordRestore } from '@assay/till/store/restore'
import { useTestDatabase } from '@assay/till/store/use-database.fixture'
import { afterEach, expect, test } from 'vitest'
import type { ShopContext } from '../shop.ts'
import { outageJob } from './extend-for-outages.ts'
import { grantPeriod, revokeToken } from './grant-period.ts'
import { type Product, periodMs } from './policy.ts'
import { findSubscription } from './store.ts'

const db = await useTestDatabase()

const tokens = createTokenMaker(systemRng, 'asub')
const startMs = Date.UTC(2026, 0, 1)
const minute = 60_000
const quiet = { clock: systemClock, log: silentLog, metrics: silentMetrics }
const walletOf = (number: number) => `0x${number.toString(16).padStart(40, '0')}` as const

async function subscribe(number: number, product: Product, boughtAtMs = startMs) {
  const wallet = walletOf(number)
  const tier = product === 'feeds' ? ('vip' as const) : ('stream' as const)
  const prices = { standardMicro: 1_000_000n, vipMicro: 1_000_000n, network: 'eip155:8453' }
  const purchase = { paymentId: `pay_${product}_${number}`, round: 0, wallet, product, tier, boughtAtMs, ...prices }
  await db.database.transaction((tx) => grantPeriod(tx, tokens, purchase, boughtAtMs))
  return wallet
}

afterEach(() => db.database.query('delete from subscription_look'))

function watch(product: Product) {
  const state = { nowMs: startMs, down: 0, of: 2 }
  let looked = false
  const context = { database: db.database, log: silentLog, clock: { nowMs: () => state.nowMs } }
  const job = outageJob(context as unknown as ShopContext, product, () => ({ down: state.down, of: state.of }))
  /** A check; with `running`, the checks of every minute since the last one too. */
  return async (nowMs: number, down: number, running = true) => {
    for (let atMs = state.nowMs + minute; running && looked && atMs < nowMs; atMs += minute) {
      state.nowMs = atMs
      await job.work()
    }
    looked = true
    Object.assign(state, { nowMs, down })
    await job.work()
  }
}

const extensions = async (wallet: string) =>
  (
    await db.database.query<{ given_ms: bigint }>(
      'select given_ms from subscription_extension where wallet = $1 order by id',
      [wallet],
    )
  ).rows.map(({ given_ms }) => Number(given_ms))

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

test('the time in which no node ran is given back whole, posted and audited', async () => {
  const dayMs = 24 * 60 * minute
  const laterMs = startMs + 700 * dayMs
  const wallet = await subscribe(4, 'stream', laterMs)
  const expired = await subscribe(5, 'stream', laterMs - periodMs + 30 * minute)
  const look = watch('stream')
  await look(laterMs + 10 * minute, 0)
  await look(laterMs + 130 * minute, 0, false)
  expect((await findSubscription(db.database, wallet, 'stream'))?.untilMs).toBe(laterMs + periodMs + 120 * minute - 1)
  // One whose time ran out meanwhile has the rest of it now.
  expect((await findSubscription(db.database, expired, 'stream'))?.untilMs).toBe(laterMs + 150 * minute - 1)
  expect(await extensions(wallet)).toEqual([120 * minute - 1])
  const { rows } = await db.database.query<{ details: string }>(
    `select details from audit_log where action = 'subscriptions.time_back' and subject = 'stream' order by id desc limit 1`,
  )
  expect(JSON.stringify(rows)).toContain(new Date(laterMs + 130 * minute).toISOString())
  await look(laterMs + 140 * minute, 0)
  expect(await extensions(wallet)).toHaveLength(1)
})

test('a stop in the middle of an outage: the part before in proportion, the stop whole, the rest in proportion', async () => {
  const laterMs = startMs + 800 * 24 * 60 * minute
  const wallet = await subscribe(6, 'feeds', laterMs)
  const look = watch('feeds')
  await look(laterMs, 1)
  await look(laterMs + 20 * minute, 1)
  await look(laterMs + 80 * minute, 1, false)
  await look(laterMs + 100 * minute, 0)
  expect((await findSubscription(db.database, wallet))?.extendedMs).toBe((10 + 60 + 10) * minute - 1)
  await db.database.query('delete from subscription_look')
  const next = watch('feeds')
  await next(laterMs + 101 * minute, 1)
  await next(laterMs + 141 * minute, 0, false)
  // The outage began with the very look after which the node stopped.
  expect((await findSubscription(db.database, wallet))?.extendedMs).toBe((80 + 40) * minute - 2)
})

test('after a restore only the time is given back in which this node was down, not that since the backup', async () => {
  const laterMs = startMs + 1_000 * 24 * 60 * minute
  const wallet = await subscribe(8, 'feeds', laterMs)
  const look = watch('feeds')
  await look(laterMs + minute, 0)
  // A day after the backup the database was lost; an hour later the backup was started.
  const lostMs = laterMs + 24 * 60 * minute
  await recordRestore(db.database, quiet, {
    network: 'eip155:8453',
    untilBlock: 1n,
    reason: 'test',
    lastSeenMs: lostMs,
  })
  await look(lostMs + 60 * minute, 0, false)
  expect((await findSubscription(db.database, wallet))?.extendedMs).toBe(60 * minute - 1)
  await db.owner.query('delete from restore_gap')
})

test('a check that comes a little late is no stop', async () => {
  const laterMs = startMs + 900 * 24 * 60 * minute
  const wallet = await subscribe(7, 'feeds', laterMs)
  const look = watch('feeds')
  await look(laterMs + minute, 0)
  await look(laterMs + 3.5 * minute, 0, false)
  expect((await findSubscription(db.database, wallet))?.extendedMs).toBe(0)
})
