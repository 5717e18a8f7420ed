import type { Address } from '@assay/protocol/address'
import type { Sale } from '@assay/till'
import { systemClock } from '@assay/till/kernel/clock'
import { useTestDatabase } from '@assay/till/store/use-database.fixture'
import { expect, test } from 'vitest'
import { createNotifications } from '../../../notifications/events.ts'
import { earningsTopic, publishEarnings } from './earnings-events.ts'
import { type EarningKey, readEarnings } from './read-earnings.ts'
import { shareSale } from './share-sale.ts'

const db = await useTestDatabase()
const creator: Address = `0x${'c1'.repeat(20)}`
const payer = (n: number): Address => `0x${String(n).repeat(40)}`

let last = 0
async function share(
  payerNumber: number,
  url: string | null,
  at: string,
  more: { micro?: number; state?: string; wallet?: Address } = {},
) {
  last += 1
  const { micro = 4_500, state = 'accrued', wallet = creator } = more
  await db.owner.query(
    `insert into creator_accrual (subject, payment_id, source, payer, network, domain, registrable, page, wallet, shard, micro, state, created_at)
     values ($1, $1, 'payment', $2, 'eip155:8453', 'a.com', 'a.com', $3, $4, 0, $5, $6, $7)`,
    [`att_${last}`, payer(payerNumber), url, wallet, micro, state, at],
  )
}

test('a creator sees what it earned by page, payer and day, in pages, without what is not its own', async () => {
  await share(1, 'https://a.com/x', '2026-03-01T23:59:00Z')
  await share(2, 'https://a.com/x', '2026-03-02T00:01:00Z')
  await share(2, 'https://a.com/y', '2026-03-02T10:00:00Z', { state: 'committed' })
  await share(2, 'https://a.com/y', '2026-03-02T11:00:00Z', { micro: -4_500 })
  await share(3, 'https://a.com/z', '2026-03-03T00:00:00Z', { state: 'reversed' })
  await share(3, 'https://a.com/z', '2026-03-03T00:00:00Z', { wallet: payer(9) })
  const all = { from: new Date(0), until: new Date('2027-01-01'), limit: 100 }
  const by = async (key: EarningKey, more = {}) =>
    (await readEarnings(db.database, creator, { ...all, by: key, ...more })).map((one) => [
      one.key,
      one.citations,
      one.earned_usd,
    ])
  expect(await by('page')).toEqual([
    ['https://a.com/x', 2, '0.009'],
    ['https://a.com/y', 1, '0'],
  ])
  expect(await by('payer')).toEqual([
    [payer(1), 1, '0.0045'],
    [payer(2), 2, '0.0045'],
  ])
  expect(await by('day')).toEqual([
    ['2026-03-01', 1, '0.0045'],
    ['2026-03-02', 2, '0.0045'],
  ])
  expect(await by('day', { until: new Date('2026-03-02') })).toEqual([['2026-03-01', 1, '0.0045']])
  expect(await by('page', { limit: 1 })).toEqual([['https://a.com/x', 2, '0.009']])
  expect(await by('page', { limit: 1, after: 'https://a.com/x' })).toEqual([['https://a.com/y', 1, '0']])
})

test('a sale of several texts is earned by each page, and a share without a page by its domain', async () => {
  const seller: Address = `0x${'c3'.repeat(20)}`
  const sale = {
    paymentId: 'pay_texts',
    network: 'eip155:8453',
    payer: payer(4),
    round: 0,
    source: 'payment',
    settledAtMs: 0,
  }
  const host = { domain: 'b.com', registrable: 'b.com' }
  await db.database.transaction((tx) =>
    shareSale(tx, sale as Sale, 'qry_1', [
      { ...host, page: 'https://b.com/1', micro: 1_000n },
      { ...host, page: 'https://b.com/2', micro: 2_000n },
    ]),
  )
  await db.owner.query(`update creator_accrual set wallet = $1, state = 'accrued' where subject = 'qry_1'`, [seller])
  await share(4, null, '2026-03-01T00:00:00Z', { wallet: seller, micro: 500 })
  const asked = { by: 'page', from: new Date(0), until: new Date('2027-01-01'), limit: 100 } as const
  expect((await readEarnings(db.database, seller, asked)).map(({ key, earned_micro }) => [key, earned_micro])).toEqual([
    ['a.com', '500'],
    ['https://b.com/1', '1000'],
    ['https://b.com/2', '2000'],
  ])
})

test('those who watch a creator get one event for each hour that is over, however often it is worked out', async () => {
  const watcher: Address = `0x${'c2'.repeat(20)}`
  await share(1, 'https://a.com/x', '2026-04-01T10:05:00Z', { wallet: watcher })
  await share(2, 'https://a.com/y', '2026-04-01T10:59:59Z', { wallet: watcher })
  await share(2, 'https://a.com/y', '2026-04-01T11:01:00Z', { wallet: watcher })
  await share(2, 'https://a.com/y', '2026-04-01T12:01:00Z', { wallet: watcher })
  const clock = { ...systemClock, nowMs: () => Date.parse('2026-04-01T12:30:00Z') }
  const real = createNotifications({ database: db.database, clock }, new Map([[earningsTopic.name, earningsTopic]]))
  const events = { ...real, watched: async () => [watcher] }
  for (let n = 0; n < 2; n += 1) await publishEarnings({ database: db.database, clock, events })
  const seen = await real.recent(earningsTopic.name, { limit: 10 })
  expect(
    seen.map(({ subject, payload }) => [subject, payload['from'], payload['shares'], payload['earned_usd']]),
  ).toEqual([
    [watcher, '2026-04-01T11:00:00.000Z', 1, '0.0045'],
    [watcher, '2026-04-01T10:00:00.000Z', 2, '0.009'],
  ])
})
