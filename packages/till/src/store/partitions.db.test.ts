import { expect, test } from 'vitest'
import { sampleClaim } from '../gate/claim.fixture.ts'
import { endPayment, findConflict, findPayment, readAnswer, writeIntents } from '../gate/store-advance.ts'
import { type Claim, insertClaims } from '../gate/store-claim.ts'
import { createIds, firstIdAt } from '../kernel/ids.ts'
import { silentLog } from '../kernel/log.ts'
import { silentMetrics } from '../kernel/metrics.ts'
import { systemRng } from '../kernel/random.ts'
import { accounts, post } from '../ledger/index.ts'
import { moves } from '../transitions/state-changes.ts'
import { type Retention, rotatePartitions } from './partitions.ts'
import { useTestDatabase } from './use-database.fixture.ts'

const db = await useTestDatabase()

const dayMs = 86_400_000
const worker = { owner: 1n, nowMs: Date.now(), leaseMs: 60_000 }
const idAt = (ms: number) => createIds({ nowMs: () => ms }, systemRng).next('pay')
const keep = (nowMs: number, retention: Retention = {}) =>
  rotatePartitions({ sql: db.database, log: silentLog, metrics: silentMetrics }, retention, nowMs)

/** Claimed at that time with its answer stored, and in the state `released` unless it stays open. */
async function sell(number: number, atMs: number, stays = false): Promise<Claim> {
  const claim = { ...sampleClaim(number), id: idAt(atMs), identifierHash: Buffer.alloc(32, number) }
  expect(await insertClaims(db.database, [claim], worker)).toEqual([{ status: 'claimed' }])
  const answer = { status: 200, contentType: 'text/plain', headers: {}, body: Buffer.from('bought') }
  const intent = { ...answer, id: claim.id, chargeMicro: 5_000n, reservation: undefined, attempt: 1, leaseMs: 60_000 }
  expect(await writeIntents(db.database, [intent], worker)).toEqual([true])
  if (!stays)
    await db.owner.query(`update payment set state = 'served', final = true, ended_at = $2 where id = $1`, [
      claim.id,
      new Date(atMs),
    ])
  return claim
}

const partitionOf = async (table: string, key: string, id: string) =>
  (
    await db.owner.query<{ name: string }>(`select tableoid::regclass::text as name from ${table} where ${key} = $1`, [
      id,
    ])
  ).rows[0]?.name

test('a payment and its answer are in the partition of their time, whatever is beyond the last one in the rest', async () => {
  const nowMs = Date.now()
  const now = await sell(1, nowMs)
  expect(await partitionOf('payment', 'id', now.id)).toMatch(/^payment_[0-9]{8}$/)
  expect(await partitionOf('payment_answer', 'payment_id', now.id)).toMatch(/^payment_answer_[0-9]{8}$/)
  const later = await sell(2, nowMs + 3_000 * dayMs)
  expect(await partitionOf('payment', 'id', later.id)).toBe('payment_rest')
  expect((await findPayment(db.database, later.id))?.id).toBe(later.id)
  expect((await readAnswer(db.database, later.id))?.body.toString()).toBe('bought')
})

test('the lines of a posting are in the partition of their time', async () => {
  const network = 'eip155:8453'
  await post(db.database, [
    {
      reference: 'partition:1',
      kind: 'test',
      lines: [
        { account: accounts.feesFacilitator(network, 'test.route'), amount: 5n },
        { account: accounts.payableFacilitator(network), amount: -5n },
      ],
    },
  ])
  const { rows } = await db.owner.query<{ name: string }>(
    `select distinct tableoid::regclass::text as name from ledger_entry`,
  )
  expect(rows).toEqual([{ name: expect.stringMatching(/^ledger_entry_[0-9]{8}$/) }])
})

test('partitions are made ahead; a period whose rows are in the rest already stays there and is reported', async () => {
  const futureMs = Date.now() + 3_650 * dayMs
  const early = await sell(3, futureMs)
  await keep(futureMs)
  const { rows } = await db.database.query<{ failed: string[] }>('select make_partitions($1) as failed', [
    new Date(futureMs),
  ])
  expect(rows[0]?.failed.map((name) => name.replace(/_[0-9]{8}$/, '')).sort()).toEqual(['payment', 'payment_answer'])
  expect(await partitionOf('payment', 'id', early.id)).toBe('payment_rest')
  const next = await sell(4, futureMs + 100 * dayMs)
  expect(await partitionOf('payment', 'id', next.id)).toMatch(/^payment_[0-9]{8}$/)
})

test('answers go after their time, unless a payment of theirs has not ended; claims and payments stay', async () => {
  const pastMs = Date.now() - 200 * dayMs
  await keep(pastMs)
  await keep(pastMs + 21 * dayMs)
  const old = await sell(5, pastMs)
  const open = await sell(6, pastMs + 21 * dayMs, true)
  await keep(Date.now())
  expect(await readAnswer(db.database, old.id)).toBeUndefined()
  expect(await readAnswer(db.database, open.id)).toBeDefined()
  const copy = { ...old, id: idAt(Date.now()) }
  expect(await insertClaims(db.database, [copy], worker)).toEqual([{ status: 'conflict' }])
  expect((await findConflict(db.database, copy))?.id).toBe(old.id)
  await endPayment(db.database, { id: open.id, move: moves.failPosted, reason: 'test' }, Date.now())
  await keep(Date.now())
  expect(await readAnswer(db.database, open.id)).toBeUndefined()
})

test('what is younger than the least time stays, whatever is asked, and nothing of the books is ever dropped', async () => {
  const claim = await sell(7, Date.now() - 10 * dayMs)
  await keep(Date.now() - 10 * dayMs)
  await keep(Date.now(), { answerDays: 1, paymentDays: 1 })
  expect((await findPayment(db.database, claim.id))?.id).toBe(claim.id)
  const drop = db.database.query(`select drop_partitions('ledger_entry', 1, now() + interval '90 years')`)
  await expect(drop).rejects.toThrow(/nothing of ledger_entry is ever dropped/)
})

test('every table that is cut by time has its rest, its partitions and its time', async () => {
  const { rows } = await db.owner.query<{ name: string; parts: string[]; kept: number | null }>(
    `select t.table_name as name, t.keep_days as kept, array_agg(replace(i.inhrelid::regclass::text, t.table_name, '')) as parts
     from partitioned_table t join pg_inherits i on i.inhparent = t.table_name::regclass group by 1, 2 order by 1`,
  )
  const { rows: cut } = await db.owner.query<{ name: string }>(
    `select relname::text as name from pg_class where relkind = 'p' and relnamespace = 'public'::regnamespace order by 1`,
  )
  expect(rows.map(({ name }) => name)).toEqual(cut.map(({ name }) => name))
  for (const { parts } of rows) {
    expect(parts).toContain('_rest')
    expect(parts.length).toBeGreaterThanOrEqual(4)
  }
  expect(new Map(rows.map(({ name, kept }) => [name, kept])).get('ledger_entry')).toBeNull()
})

test('a payment key is used once though its payment was dropped', async () => {
  const pastMs = Date.now() - 800 * dayMs
  await keep(pastMs)
  const old = await sell(8, pastMs)
  await keep(Date.now(), { paymentDays: 400 })
  expect(await findPayment(db.database, old.id)).toBeUndefined()
  expect(await insertClaims(db.database, [{ ...old, id: idAt(Date.now()) }], worker)).toEqual([{ status: 'conflict' }])
})

test('bounds of partitions and ids agree about time', async () => {
  for (const ms of [0, 86_400_000, 1_780_000_000_008, 4_000_000_000_000]) {
    const { rows } = await db.database.query(`select first_id_at('pay', $1) as id`, [new Date(ms)])
    expect(rows).toEqual([{ id: firstIdAt('pay', ms) }])
    expect(idAt(ms) >= firstIdAt('pay', ms)).toBe(true)
    if (ms > 0) expect(idAt(ms - 8) < firstIdAt('pay', ms)).toBe(true)
  }
})

test('the application reaches partitions through their table alone', async () => {
  const { rows } = await db.owner.query<{ name: string }>(
    `select c.relname as name from pg_class c where c.relispartition and c.relkind = 'r'
       and has_table_privilege('assay_app', c.oid, 'select, insert, update, delete')`,
  )
  expect(rows).toEqual([])
})

test('what a payer decides about has the payer in each unique key, so that payers could be spread over servers', async () => {
  const { rows } = await db.owner.query<{ name: string; columns: string[] }>(
    `select i.indexrelid::regclass::text as name, array_agg(a.attname::text) as columns
     from pg_index i join pg_attribute a on a.attrelid = i.indexrelid
     where i.indisunique and i.indrelid = any(array['claim', 'payment', 'payment_answer', 'call_answer', 'payer_in_flight', 'facilitator_hold',
       'entitled_call']::regclass[]) group by 1 order by 1`,
  )
  expect(rows).toHaveLength(9)
  for (const { columns } of rows) expect(columns.some((column) => ['payer', 'account'].includes(column))).toBe(true)
})
