import { expect, test } from 'vitest'
import { movedMoneyOf } from '../contract/payment-record.ts'
import { systemClock } from '../kernel/clock.ts'
import { createIds } from '../kernel/ids.ts'
import { systemRng } from '../kernel/random.ts'
import { accounts, post, type TransferTurn, takeTransfers } from '../ledger/index.ts'
import type { Tx } from '../store/database.ts'
import { useTestDatabase } from '../store/use-database.fixture.ts'
import { sampleClaim } from './claim.fixture.ts'
import { type Intent, markDelivered, writeIntents } from './store-advance.ts'
import { type Claim, insertClaims } from './store-claim.ts'
import { markServed, type ServedRow } from './store-finish.ts'

const db = await useTestDatabase({ poolSize: 1 })

const worker = { owner: 1n, nowMs: Date.now(), leaseMs: 60_000 }
const perBatch = 12
const ids = createIds(systemClock, systemRng)

const claimOf = (number: number): Claim => ({ ...sampleClaim(number), id: ids.next('pay') })

const intentOf = ({ id }: Claim): Intent => ({
  id,
  chargeMicro: 5_000n,
  status: 200,
  contentType: 'application/json',
  headers: {},
  body: Buffer.from('{}'),
  reservation: undefined,
  attempt: 1,
  leaseMs: 60_000,
})

async function sell(tx: Tx, batch: number): Promise<void> {
  const claims = Array.from({ length: perBatch }, (_, index) => claimOf(batch * perBatch + index + 1))
  await insertClaims(tx, claims, worker)
  await writeIntents(tx, claims.map(intentOf), worker)
  const served = claims.map(({ id }, index) => ({
    id,
    evidence: {
      status: 'confirmed' as const,
      transaction: `0x${(batch * perBatch + index + 1).toString(16).padStart(64, '0')}` as const,
      blockNumber: 1n,
      blockHash: `0x${'1'.repeat(64)}` as const,
      position: 0,
      gasGwei: 0n,
    },
    provisional: false,
    paymentResponse: '',
  }))
  expect((await markServed(tx, served, worker.nowMs)).size).toBe(perBatch)
  await postMoney(tx, claims, served)
}

async function postMoney(tx: Tx, claims: readonly Claim[], served: readonly ServedRow[]): Promise<void> {
  const money = claims.map((claim, index) => movedMoneyOf(claim, (served[index] as ServedRow).evidence))
  const taken = await takeTransfers(
    tx,
    money.map((one, index) => ({ money: one, posting: { as: 'payment', for: claims[index]?.id ?? '' } })),
    worker.nowMs,
  )
  await post(
    tx,
    claims.map(({ id, network, amountMicro }, index) => ({
      ...{ reference: `sale:${id}`, kind: 'sale', paymentId: id, transfer: taken[index] as TransferTurn },
      lines: [
        { account: accounts.onchain(network, 'pay_to'), amount: amountMicro },
        { account: accounts.revenue(network, 'test'), amount: -amountMicro },
      ],
    })),
  )
}

/**
 * Whole reads of the table, and reads of the index that keeps those that ended until the next vacuum, in this transaction;
 * and how many transfers it read.
 */
const wideReads = async (tx: Tx) =>
  (
    await tx.query<{ whole: bigint; unfinished: bigint; transfers: bigint }>(
      `select (select sum(pg_stat_get_xact_numscans(inhrelid))::bigint from pg_inherits where inhparent = 'payment'::regclass) as whole,
         (select sum(pg_stat_get_xact_numscans(inhrelid))::bigint from pg_inherits where inhparent = 'payment_unfinished'::regclass) as unfinished,
         (select idx_tup_fetch from pg_stat_xact_user_tables where relid = 'transfer'::regclass) as transfers`,
    )
  ).rows[0]

test('a sale is found by its keys, by plans too that were made when there were few payments', async () => {
  // Enough times on one connection that plans are kept.
  const batches = 30
  for (let batch = 0; batch < batches; batch += 1) await db.database.transaction((tx) => sell(tx, batch))
  const seen = await db.database.transaction(async (tx) => {
    await sell(tx, batches)
    return wideReads(tx)
  })
  expect(seen).toMatchObject({ whole: 0n, unfinished: 0n })
  // The server may still count what the transactions before have read.
  expect(Number(seen?.transfers)).toBeLessThanOrEqual(perBatch * (batches + 1))
})

/** Changes of payments that wrote no index, in this transaction and perhaps before. */
const changesInPlace = async (tx: Tx) =>
  (
    await tx.query<{ n: bigint }>(
      `select sum(pg_stat_get_xact_tuples_hot_updated(inhrelid))::bigint as n from pg_inherits where inhparent = 'payment'::regclass`,
    )
  ).rows[0]?.n ?? 0n

test('the intent to settle a payment and the delivery of its answer change no index', async () => {
  const claim = claimOf(1_000_000)
  const inPlace = await db.database.transaction(async (tx) => {
    const before = await changesInPlace(tx)
    await insertClaims(tx, [claim], worker)
    await writeIntents(tx, [intentOf(claim)], worker)
    await markDelivered(tx, [claim.id], worker.nowMs)
    return (await changesInPlace(tx)) - before
  })
  expect(inPlace).toBe(2n)
})

const unfinishedRead = async (tx: Tx): Promise<bigint> => {
  const { rows } = await tx.query<{ n: bigint }>(
    `select sum(pg_stat_get_xact_tuples_returned(inhrelid))::bigint as n from pg_inherits where inhparent = 'payment_unfinished'::regclass`,
  )
  return rows[0]?.n ?? 0n
}

test('what was sold long ago is not read again each time that unfinished payments are counted', async () => {
  for (let batch = 100; batch < 200; batch += 1) await db.database.transaction((tx) => sell(tx, batch))
  const read = async () =>
    db.database.transaction(async (tx) => {
      const before = await unfinishedRead(tx)
      await tx.query('select count(*) from unfinished_payments()')
      return (await unfinishedRead(tx)) - before
    })
  // Index entries of ended payments are skipped once no transaction is as old as they are.
  await expect.poll(read, { timeout: 20_000 }).toBeLessThan(BigInt(perBatch))
})
