import { systemRng } from '@assay/till/kernel/random'
import { createTokenMaker } from '@assay/till/signing'
import { useTestDatabase } from '@assay/till/store/use-database.fixture'
import { expect, test } from 'vitest'
import { grantPeriod, revokePeriod } from './grant-period.ts'
import { periodMs } from './policy.ts'
import { findSubscription, type NewPurchase } from './store.ts'

const db = await useTestDatabase({ poolSize: 20 })

const tokens = createTokenMaker(systemRng, 'asub')
const startMs = Date.UTC(2026, 0, 1)
let number = 0
const purchase = (wallet: number, changes: Partial<NewPurchase> = {}): NewPurchase => {
  number += 1
  return {
    paymentId: `pay_${number}`,
    round: 0,
    wallet: `0x${wallet.toString(16).padStart(40, '0')}`,
    tier: 'standard',
    network: 'eip155:8453',
    boughtAtMs: startMs,
    standardMicro: 250_000_000n,
    vipMicro: 1_000_000_000n,
    ...changes,
  }
}
const grant = (one: NewPurchase) => db.database.transaction((tx) => grantPeriod(tx, tokens, one, one.boughtAtMs))

test('twenty purchases of one wallet at once add up to twenty periods and one token', async () => {
  const bought = await Promise.all(Array.from({ length: 20 }, () => grant(purchase(1))))
  expect(new Set(bought.map(({ tokenHash }) => tokenHash?.toString('hex'))).size).toBe(1)
  const subscription = await findSubscription(db.database, purchase(1).wallet)
  expect(subscription?.untilMs).toBe(startMs + 20 * periodMs)
})

test('taking a purchase back leaves what the others add up to; the last one ends the subscription', async () => {
  const standard = purchase(2)
  const vip = purchase(2, { tier: 'vip', boughtAtMs: startMs + periodMs / 2 })
  await grant(standard)
  const both = await grant(vip)
  expect(both).toMatchObject({ tier: 'vip', untilMs: vip.boughtAtMs + periodMs + periodMs / 8 })
  const back = (paymentId: string, nowMs: number) =>
    db.database.transaction((tx) => revokePeriod(tx, tokens, paymentId, nowMs))
  await back(vip.paymentId, vip.boughtAtMs)
  expect(await findSubscription(db.database, standard.wallet)).toMatchObject({
    tier: 'standard',
    untilMs: startMs + periodMs,
  })
  await back(standard.paymentId, vip.boughtAtMs)
  expect((await findSubscription(db.database, standard.wallet))?.untilMs).toBe(vip.boughtAtMs)
  await back(standard.paymentId, vip.boughtAtMs)
})

test('a payment that lands again after a reorg buys its period once more, under its own round', async () => {
  const first = purchase(3)
  await grant(first)
  await db.database.transaction((tx) => revokePeriod(tx, tokens, first.paymentId, startMs))
  const again = await grant({ ...first, round: 1 })
  expect(again.untilMs).toBe(startMs + periodMs)
})

test('the stream and the feeds of one wallet are independent, each with its own term and token', async () => {
  const feeds = purchase(9)
  const stream = purchase(9, { product: 'stream', tier: 'stream', standardMicro: 5n, vipMicro: 5n })
  const again = purchase(9, { product: 'stream', tier: 'stream', standardMicro: 5n, vipMicro: 5n })
  const [one, other] = [await grant(feeds), await grant(stream)]
  expect(one.tokenHash).not.toEqual(other.tokenHash)
  expect(await grant(again)).toMatchObject({ product: 'stream', untilMs: startMs + 2 * periodMs })
  expect(await findSubscription(db.database, feeds.wallet)).toMatchObject({ untilMs: startMs + periodMs })
  const back = (paymentId: string) =>
    db.database.transaction((tx) => revokePeriod(tx, tokens, paymentId, startMs + 1_000))
  await back(again.paymentId)
  expect(await findSubscription(db.database, feeds.wallet, 'stream')).toMatchObject({ untilMs: startMs + periodMs })
  await back(stream.paymentId)
  expect(await findSubscription(db.database, feeds.wallet, 'stream')).toMatchObject({ untilMs: startMs + 1_000 })
  expect(await findSubscription(db.database, feeds.wallet)).toMatchObject({ untilMs: startMs + periodMs })
})
