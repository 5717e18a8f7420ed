import { systemClock } from '@assay/till/kernel/clock'
import { createIds } from '@assay/till/kernel/ids'
import { systemRng } from '@assay/till/kernel/random'
import { useTestDatabase } from '@assay/till/store/use-database.fixture'
import { expect, test } from 'vitest'
import { countPayments, readPaymentStates } from './payment-states.ts'

const db = await useTestDatabase()

const minutesAgo = (minutes: number) => Date.now() - minutes * 60_000

async function insert(state: string, minutes: number, micro: number): Promise<string> {
  const at = minutesAgo(minutes)
  const id = createIds({ nowMs: () => at }, systemRng).next('pay')
  await db.owner.query(
    `insert into payment (scheme, quoted_micro, id, state, network, asset, payer, payment_key, pay_to, payee, amount_micro, valid_before, route_id, resource,
       fingerprint, revocable, owner, lease_until, claimed_at, head_block, ended_at)
     values ('exact', $3, $1, $2, 'eip155:8453', 'eip155:8453/erc20:0xa', 'payer', sha256('x'), '', 'pay_to', $3, 0, 'test', '', '', false, 0, $4, $4, 1,
       case when $2 = 'unknown' then null else $4::timestamptz end)`,
    [id, state, micro, new Date(at)],
  )
  return id
}

async function expectSameAsRows(): Promise<void> {
  const { rows } = await db.owner.query(
    `select state, count(*)::integer as payments, sum(amount_micro)::text as amount_micro from payment group by state order by state`,
  )
  const counted = await readPaymentStates(db.database)
  expect(counted.map(({ state, payments, amount_micro }) => ({ state, payments, amount_micro }))).toEqual(rows)
}

test('payments are counted once, and what changes its state afterwards is counted as what it is then', async () => {
  const [served, unknown] = [await insert('served', 60, 5), await insert('unknown', 50, 7)]
  await insert('failed', 40, 11)
  const young = await insert('served', 1, 13)
  await countPayments(db.database, systemClock)
  await expectSameAsRows()
  await db.owner.query(`update payment set state = 'refunded' where id = any($1)`, [[served, young]])
  await db.owner.query(`update payment set state = 'served', amount_micro = 6, ended_at = now() where id = $1`, [
    unknown,
  ])
  await expectSameAsRows()
  await insert('credited', 5, 19)
  await countPayments(db.database, { ...systemClock, nowMs: () => Date.now() + 8 * 60_000 })
  await db.owner.query(`update payment set state = 'unknown', ended_at = null where id = $1`, [unknown])
  await expectSameAsRows()
})

test('the count reads what became older since the last one, not all of the past', async () => {
  await countPayments(db.database, { ...systemClock, nowMs: () => Date.now() + 3_600_000 })
  const { rows: before } = await db.owner.query('select sum(payments) as n from books_rollup_payment')
  // Rows below the head that came past the rules are not seen again: nothing below it is read.
  await db.owner.transaction(async (tx) => {
    await tx.query('set local session_replication_role = replica')
    await tx.query(`update payment set state = 'failed' where state = 'served'`)
  })
  await countPayments(db.database, { ...systemClock, nowMs: () => Date.now() + 7_200_000 })
  expect((await db.owner.query('select sum(payments) as n from books_rollup_payment')).rows).toEqual(before)
})
