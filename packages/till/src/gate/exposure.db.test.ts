import type { Address } from '@assay/protocol/address'
import { beforeEach, expect, test } from 'vitest'
import type { Consumption, PaidRoute } from '../contract/paid-call.ts'
import { systemClock } from '../kernel/clock.ts'
import { useTestDatabase } from '../store/use-database.fixture.ts'
import { createExposure } from './exposure.ts'

const db = await useTestDatabase()
beforeEach(() => db.owner.query('delete from payment'))

const wallet = (n: number): Address => `0x${n.toString(16).padStart(40, '0')}`
const cap = 1_000n
/** Within one second of the node: what is admitted counts though no row says so yet. */
const nowMs = systemClock.nowMs()
const clock = { ...systemClock, nowMs: () => nowMs, monotonicMs: () => 1 }
const exposure = (consumption?: Consumption) =>
  createExposure(db.database, clock, cap, () => ({ ...(consumption ? { consumption } : {}) }) as PaidRoute)

type Row = {
  state: string
  micro: bigint
  final?: boolean
  revocable?: boolean
  payer?: Address
  ageSeconds?: number
  route?: string
  addsCredit?: boolean
}
let numbers = 0

async function insert(rows: readonly Row[]): Promise<void> {
  for (const row of rows) {
    const {
      state,
      micro,
      final = false,
      revocable = false,
      payer = wallet(1),
      ageSeconds = 0,
      route = 'test',
      addsCredit = false,
    } = row
    numbers += 1
    await db.owner.query(
      `insert into payment (scheme, quoted_micro, id, state, network, asset, payer, payment_key, pay_to, payee, amount_micro, valid_before, route_id, resource,
         fingerprint, revocable, owner, lease_until, claimed_at, head_block, final, settled_at, ended_at, adds_credit)
       values ('exact', $5, $1::text, $2, 'eip155:8453', 'eip155:8453/erc20:' || $3, $4, sha256(convert_to($1::text, 'UTF8')), $3, 'pay_to', $5, 0, $9, '', sha256(convert_to($1::text, 'UTF8')), $6, 0, now(), now(),
         1, $7, $8, case when $2 in ('served', 'credited', 'failed', 'released') then now() end, $10)`,
      [
        `pay_${numbers}`,
        state,
        wallet(0),
        payer,
        micro,
        revocable,
        final,
        new Date(nowMs - ageSeconds * 1_000),
        route,
        addsCredit,
      ],
    )
  }
}

const sale = (amountMicro: bigint, payer = wallet(9), revocable = false) => ({ amountMicro, payer, revocable })

test('what is unknown, held, credited or final gives nothing away, and does not count', async () => {
  await insert([
    ...['unknown', 'settled', 'credited', 'failed', 'released', 'claimed'].map((state) => ({ state, micro: cap })),
    { state: 'served', micro: cap, final: true },
  ])
  expect(await exposure().admit(sale(500n))).toBe(true)
})

test('what was served and is not final counts, and what is being settled for it', async () => {
  await insert([
    { state: 'served', micro: 200n },
    { state: 'settling', micro: 200n },
  ])
  const open = exposure()
  expect(await open.admit(sale(101n))).toBe(false)
  expect(await open.admit(sale(100n))).toBe(true)
  expect(await open.admit(sale(1n))).toBe(false)
})

test('1,000 fresh wallets cannot stop a sale to somebody who paid before', async () => {
  const known = wallet(77)
  await insert([{ state: 'served', micro: 5n, final: true, payer: known }])
  const open = exposure()
  let admitted = 0
  for (let n = 0; n < 1_000; n += 1) if (await open.admit(sale(1n, wallet(1_000 + n)))) admitted += 1
  expect(admitted).toBe(500)
  expect(await open.admit(sale(50n, known))).toBe(true)
  expect(await open.admit(sale(451n, known))).toBe(false)
})

test('a wallet that was charged nothing is as fresh as any other', async () => {
  const free = wallet(78)
  await insert([
    { state: 'served', micro: 0n, final: true, payer: free },
    { state: 'served', micro: 500n },
  ])
  expect(await exposure().hasRoom(sale(1n, free))).toBe(false)
})

test('exposure cap removed: beyond it nobody is served before finality', async () => {
  const known = wallet(77)
  await insert([
    { state: 'served', micro: 5n, final: true, payer: known },
    { state: 'served', micro: cap },
  ])
  expect(await exposure().admit(sale(1n, known))).toBe(false)
  expect(await exposure().hasRoom(sale(1n, wallet(77)))).toBe(false)
})

test('a revocable grant counts by what was used of it', async () => {
  await insert([
    { state: 'served', micro: 800n, revocable: true, ageSeconds: 50 },
    { state: 'served', micro: 5n, final: true, payer: wallet(77) },
  ])
  // Half of its time is over.
  expect(await exposure({ seconds: 100 }).hasRoom(sale(600n, wallet(77)))).toBe(true)
  expect(await exposure({ seconds: 100 }).hasRoom(sale(601n, wallet(77)))).toBe(false)
  expect(await exposure({ seconds: 1 }).hasRoom(sale(200n, wallet(77)))).toBe(true)
  expect(await exposure({ seconds: 1 }).hasRoom(sale(201n, wallet(77)))).toBe(false)
  expect(await exposure('none').hasRoom(sale(cap, wallet(77)))).toBe(true)
  // Without a rule all of it counts.
  expect(await exposure().hasRoom(sale(201n, wallet(77)))).toBe(false)
  // It is admitted as it is: what is used of it counts later.
  expect(await exposure().admit(sale(10n * cap, wallet(9), true))).toBe(true)
})

test('credit counts once by what was drawn of it, whichever routes sold it', async () => {
  await insert([
    { state: 'served', micro: 300n, revocable: true, addsCredit: true, route: 'test.in' },
    { state: 'served', micro: 300n, revocable: true, addsCredit: true, route: 'test.in.post' },
    { state: 'served', micro: 5n, final: true, payer: wallet(77) },
  ])
  // None of it is there any more.
  expect(await exposure().hasRoom(sale(400n, wallet(77)))).toBe(true)
  expect(await exposure().hasRoom(sale(401n, wallet(77)))).toBe(false)
})

test('room that is asked for and not taken follows the same rule: half of it is for known payers', async () => {
  await insert([
    { state: 'served', micro: 5n, final: true, payer: wallet(77) },
    { state: 'served', micro: 500n },
  ])
  const open = exposure()
  for (let n = 0; n < 3; n += 1) expect(await open.hasRoom(sale(500n, wallet(77)))).toBe(true)
  expect(await open.hasRoom(sale(1n))).toBe(false)
})
