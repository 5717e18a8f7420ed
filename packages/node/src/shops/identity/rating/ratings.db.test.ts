import type { Address } from '@assay/protocol/address'
import type { Sale } from '@assay/till'
import { useTestDatabase } from '@assay/till/store/use-database.fixture'
import { beforeEach, expect, test } from 'vitest'
import {
  addressOf,
  createTestIdentity,
  insertAccrual,
  insertPayment,
  operator,
  startMs,
  type TestIdentity,
} from '../identity.fixture.ts'
import { aggregateLagMs, aggregateRatings } from './aggregate-ratings.ts'
import { readWalletStatus } from './read-wallet.ts'
import { recordReversal } from './record-reversal.ts'
import { ratingOf } from './sign-rating.ts'

const day = 86_400_000
const relatedGroups = new Map<Address, string>()

const db = await useTestDatabase({ poolSize: 4 })

beforeEach(async () => {
  for (const table of ['agent_rating_party', 'agent_rating', 'creator_accrual', 'payment'])
    await db.database.query(`delete from ${table}`)
  await db.database.query(
    `update rating_cursor set payment_at = 'epoch', payment_payer = '', payment_id = '', draw_at = 'epoch', draw_account = '', draw_id = ''`,
  )
})

const open = (): TestIdentity =>
  createTestIdentity(db.database, { ports: { fundingClusters: async () => relatedGroups } })

const walletStatusOf = (deps: TestIdentity, wallet: Address) => readWalletStatus(deps, db.database, wallet)
const rated = async (deps: TestIdentity, wallet: Address, network?: string) =>
  ratingOf(await walletStatusOf(deps, wallet), {
    wallet,
    nowMs: deps.clock.nowMs(),
    ...(network === undefined ? {} : { network }),
  })

test('what has just happened counts before it is aggregated, and the same afterwards', async () => {
  const deps = open()
  const wallet = addressOf('just now')
  for (const index of [1, 2, 3])
    await insertPayment(db.database, { id: `now${index}`, payer: wallet, atMs: startMs + index })
  await insertPayment(db.database, {
    id: 'now4',
    payer: wallet,
    atMs: startMs + 4,
    state: 'failed',
    reason: 'insufficient_funds',
  })
  deps.moveTo(startMs + 10)
  const before = await rated(deps, wallet)
  expect(before?.evidence).toMatchObject({ settled_payments: 3, independent_payments: 3, failed_settlements: 1 })
  await aggregateRatings(deps)
  expect((await db.database.query('select from agent_rating where wallet = $1', [wallet])).rowCount).toBe(0)
  deps.moveTo(startMs + 10 + aggregateLagMs)
  expect(await aggregateRatings(deps)).toContain(wallet)
  expect((await db.database.query('select from agent_rating where wallet = $1', [wallet])).rowCount).toBe(1)
  deps.moveTo(startMs + 10)
  expect(await rated(deps, wallet)).toEqual(before)
  expect(
    await aggregateRatings({ ...deps, clock: { ...deps.clock, nowMs: () => startMs + 10 + aggregateLagMs } }),
  ).toEqual([])
})

test('a wallet never seen has no rating', async () => {
  expect(await rated(open(), addressOf('never'))).toBeNull()
})

test('evidence of one chain says nothing about an account of the other', async () => {
  const deps = open()
  const wallet = addressOf('one chain')
  await insertPayment(db.database, { id: 'chain1', payer: wallet, atMs: startMs, network: 'eip155:137' })
  expect(await rated(deps, wallet, 'eip155:8453')).toBeNull()
  expect(await rated(deps, wallet, 'eip155:137')).not.toBeNull()
  expect(await rated(deps, wallet)).not.toBeNull()
})

test('paying oneself weighs nothing: own source, own cluster, own kickback, own credit, own orders, unproven source, wash-traded citation', async () => {
  const deps = open()
  const wallet = addressOf('self dealer')
  const sister = addressOf('sister')
  relatedGroups.set(wallet, 'funder').set(sister, 'funder')
  const pay = (id: string, more: Partial<Parameters<typeof insertPayment>[1]> = {}) =>
    insertPayment(db.database, { id, payer: wallet, atMs: startMs, ...more })
  await pay('own')
  await insertAccrual(db.database, { paymentId: 'own', payer: wallet, wallet })
  await pay('cluster')
  await insertAccrual(db.database, { paymentId: 'cluster', payer: wallet, wallet: sister })
  await pay('kickback', { aff: sister })
  await pay('referred', { ref: wallet })
  await pay('topup', { route: 'credit.topup' })
  for (const route of ['options.order', 'options.write', 'options.buy']) await pay(route, { route })
  await pay('unproven')
  await insertAccrual(db.database, { paymentId: 'unproven', payer: wallet, wallet: null })
  await pay('wash_traded')
  await db.database.query(
    `insert into attestation (id, kind, payment_id, network, agent, payer, source_url, domain, registrable, signature, attester, price_micro, wash, created_at)
     values ('att_w', 'citation', 'wash_traded', 'eip155:8453', $1, $1, 'https://a.test/', 'a.test', 'a.test', decode(repeat('00', 65), 'hex'), '', 5000, '{burst}', now())`,
    [wallet],
  )
  expect(await rated(deps, wallet)).toBeNull()
  const [seen] = (await walletStatusOf(deps, wallet)).evidence.values()
  expect(seen?.tally).toMatchObject({ settled: 6, selfDealt: 5, unattributed: 1 })
  deps.moveTo(startMs + aggregateLagMs + 1)
  await aggregateRatings(deps)
  expect(await rated(deps, wallet)).toBeNull()
})

test('a payment to a stranger’s source counts for the stranger', async () => {
  const deps = open()
  const [wallet, creator] = [addressOf('citer'), addressOf('creator')]
  await insertPayment(db.database, { id: 'cited', payer: wallet, atMs: startMs })
  await insertAccrual(db.database, { paymentId: 'cited', payer: wallet, wallet: creator })
  const [seen] = (await walletStatusOf(deps, wallet)).evidence.values()
  expect([...(seen?.parties.keys() ?? [])]).toEqual([creator])
  expect(await rated(deps, wallet)).not.toBeNull()
})

test('the operator who buys at the own node gains nothing', async () => {
  const deps = open()
  await insertPayment(db.database, { id: 'operator', payer: operator, atMs: startMs })
  expect(await rated(deps, operator)).toBeNull()
})

test('time that ran out is not held against the payer; a cancelled or unfunded authorization is', async () => {
  const deps = open()
  const [late, bad] = [addressOf('late'), addressOf('bad')]
  await insertPayment(db.database, {
    id: 'f1',
    payer: late,
    atMs: startMs,
    state: 'failed',
    reason: 'authorization_expired',
  })
  await insertPayment(db.database, { id: 'f2', payer: late, atMs: startMs, state: 'released', reason: 'owner_gone' })
  await insertPayment(db.database, {
    id: 'f3',
    payer: bad,
    atMs: startMs,
    state: 'failed',
    reason: 'authorization_canceled',
  })
  expect(await rated(deps, late)).toBeNull()
  expect((await rated(deps, bad))?.evidence.failed_settlements).toBe(1)
})

test('an answer that was charged nothing proves nothing', async () => {
  const deps = open()
  const wallet = addressOf('free rider')
  for (const index of [1, 2, 3])
    await insertPayment(db.database, { id: `free${index}`, payer: wallet, atMs: startMs + index, micro: 0n })
  deps.moveTo(startMs + 10)
  expect(await rated(deps, wallet)).toBeNull()
})

test('draws of credit count like payments', async () => {
  const deps = open()
  const wallet = addressOf('drawer')
  await db.database.query(
    `insert into entitled_call (id, port, account, subject, amount, route_id, fingerprint, to_clearing, state, held_at, expires_at, ended_at)
     select 'call_' || n, 'credit', $1, 'eip155:8453', 20000, 'tokens.report', 'f', false, case when n = 4 then 'released' else 'captured' end, $2, $2, $2
     from generate_series(1, 4) n`,
    [wallet, new Date(startMs)],
  )
  const before = await rated(deps, wallet)
  expect(before?.evidence).toMatchObject({ settled_payments: 3, independent_payments: 3 })
  deps.moveTo(startMs + aggregateLagMs + 1)
  await aggregateRatings(deps)
  deps.moveTo(startMs)
  expect(await rated(deps, wallet)).toEqual(before)
})

test('a draw that pays an affiliate share back to the own cluster is dealt with oneself', async () => {
  const deps = open()
  const [wallet, pocket] = [addressOf('left pocket'), addressOf('right pocket')]
  for (const one of [wallet, pocket]) relatedGroups.set(one, 'one funder')
  const draw = async (id: string, affiliate: Address) => {
    await db.database.query(
      `insert into entitled_call (id, port, account, subject, amount, route_id, fingerprint, to_clearing, state, held_at, expires_at, ended_at)
       values ($1, 'credit', $2, 'eip155:8453', 20000, 'tokens.report', 'f', false, 'captured', $3, $3, $3)`,
      [id, wallet, new Date(startMs)],
    )
    await db.database.query(
      `insert into reward_sale (payment_id, payer, network, route_id, take_micro, points, affiliate, sold_at)
       values ($1, $2, 'eip155:8453', 'tokens.report', 20000, 0, $3, $4)`,
      [id, wallet, affiliate, new Date(startMs)],
    )
  }
  await draw('call_own', pocket)
  await draw('call_other', addressOf('stranger'))
  expect((await rated(deps, wallet))?.evidence).toMatchObject({ settled_payments: 2, independent_payments: 1 })
})

test('an affiliate of the own cluster that was remembered from an earlier call is a kickback too', async () => {
  const deps = open()
  const [wallet, pocket] = [addressOf('long memory'), addressOf('its affiliate')]
  for (const one of [wallet, pocket]) relatedGroups.set(one, 'remembered funder')
  await insertPayment(db.database, { id: 'remembered', payer: wallet, atMs: startMs })
  await db.database.query(
    `insert into reward_sale (payment_id, payer, network, route_id, take_micro, points, affiliate, sold_at)
     values ('remembered', $1, 'eip155:8453', 'tokens.report', 20000, 0, $2, $3)`,
    [wallet, pocket, new Date(startMs)],
  )
  expect(await rated(deps, wallet)).toBeNull()
})

const saleOf = (id: string, payer: Address, atMs: number) =>
  ({ paymentId: id, payer, network: 'eip155:8453', amountMicro: 20_000n, settledAtMs: atMs }) as Sale

test('a sale undone after it was aggregated is subtracted, one undone before never counts', async () => {
  const deps = open()
  const wallet = addressOf('refunded')
  await insertPayment(db.database, { id: 'r1', payer: wallet, atMs: startMs })
  await insertPayment(db.database, { id: 'r2', payer: wallet, atMs: startMs + day })
  deps.moveTo(startMs + aggregateLagMs + 1)
  await aggregateRatings(deps)
  deps.moveTo(startMs + 2 * day)
  for (const [id, atMs] of [
    ['r1', startMs],
    ['r2', startMs + day],
  ] as const)
    await db.database.transaction(async (tx) => {
      await tx.query(`update payment set state = 'refunded' where id = $1`, [id])
      await recordReversal(tx, saleOf(id, wallet, atMs), { reason: 'refund', micro: 20_000n })
    })
  const { rows } = await db.database.query<{ payment_id: string; counted: boolean }>(
    'select payment_id, counted from rating_reversal where wallet = $1 order by payment_id',
    [wallet],
  )
  expect(rows).toEqual([
    { payment_id: 'r1', counted: true },
    { payment_id: 'r2', counted: false },
  ])
  expect(await rated(deps, wallet)).toBeNull()
  await aggregateRatings(deps)
  expect(await rated(deps, wallet)).toBeNull()
  const [seen] = (await walletStatusOf(deps, wallet)).evidence.values()
  expect(seen?.tally).toMatchObject({ settled: 0, refunded: 1, settledMicro: 0n })
})

test('an upheld dispute over a source stays with the wallet that held it', async () => {
  const deps = open()
  const wallet = addressOf('disputed')
  await db.database.query(
    `insert into source (domain, registrable, display, origin, state, registered_at, updated_at) values ('d.test', 'd.test', 'd.test', 'https://d.test', 'proven', now(), now())`,
  )
  await db.database.query(
    `insert into source_claim (id, domain, wallet, kind, token, token_expires_at, state, proven_at, created_at)
     values ('clm_d', 'd.test', $1, 'claim', $2, now(), 'proven', $3, $3)`,
    [wallet, 'x'.repeat(43), new Date(startMs)],
  )
  await db.database.query(
    `insert into source_dispute (id, domain, kind, statement, state, opened_at, closed_at)
     values ('dsp_1', 'd.test', 'content', 'copied', 'upheld', $1, $1), ('dsp_2', 'd.test', 'score', 'too low', 'upheld', $1, $1), ('dsp_3', 'd.test', 'content', 'no', 'rejected', $1, $1)`,
    [new Date(startMs + day)],
  )
  expect((await walletStatusOf(deps, wallet)).upheldDisputes).toBe(1)
  expect((await rated(deps, wallet))?.score).toBeLessThan(10)
})
