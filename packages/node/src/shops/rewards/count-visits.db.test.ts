import type { Address } from '@assay/protocol/address'
import { systemClock } from '@assay/till/kernel/clock'
import { silentLog } from '@assay/till/kernel/log'
import { useTestDatabase } from '@assay/till/store/use-database.fixture'
import { expect, test } from 'vitest'
import { createVisitCounter } from './count-visits.ts'

const db = await useTestDatabase()

const wallet = (n: number): Address => `0x${n.toString(16).padStart(40, '0')}`

test('visits are counted for wallets that paid once, in one row each, and names that anybody makes up leave nothing', async () => {
  const known = wallet(1)
  await db.owner.query(`insert into loyalty (wallet, spent_micro, sales, first_sale_at) values ($1, 1, 1, now())`, [
    known,
  ])
  for (let round = 0; round < 2; round += 1) {
    const visits = createVisitCounter({ database: db.database, clock: systemClock, log: silentLog })
    for (let n = 0; n < 500; n += 1) visits.count(wallet(1_000 + n))
    for (let n = 0; n < 3; n += 1) visits.count(known)
    await visits.stop()
  }
  expect((await db.database.query('select * from referral_visit')).rows).toEqual([{ referrer: known, visits: 6n }])
})
