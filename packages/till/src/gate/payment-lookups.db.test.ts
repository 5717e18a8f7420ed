import { expect, test } from 'vitest'
import { systemClock } from '../kernel/clock.ts'
import { createIds } from '../kernel/ids.ts'
import { systemRng } from '../kernel/random.ts'
import type { Tx } from '../store/database.ts'
import { useTestDatabase } from '../store/use-database.fixture.ts'
import { sampleClaim } from './claim.fixture.ts'
import { writeIntents } from './store-advance.ts'
import { insertClaims } from './store-claim.ts'
import { markServed } from './store-finish.ts'

const db = await useTestDatabase({ poolSize: 1 })

const worker = { owner: 1n, nowMs: Date.now(), leaseMs: 60_000 }
const perBatch = 12
const ids = createIds(systemClock, systemRng)

async function sell(tx: Tx, batch: number): Promise<void> {
  const claims = Array.from({ length: perBatch }, (_, index) => ({
    ...sampleClaim(batch * perBatch + index + 1),
    id: ids.next('pay'),
  }))
  await insertClaims(tx, claims, worker)
  const intents = claims.map(({ id }) => ({
    id,
    chargeMicro: 5_000n,
    status: 200,
    contentType: 'application/json',
    headers: {},
    body: Buffer.from('{}'),
    reservation: undefined,
    attempt: 1,
    leaseMs: 60_000,
  }))
  await writeIntents(tx, intents, worker)
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
}

/** Whole reads of the table, and reads of the index that keeps those that ended until the next vacuum, in this transaction. */
const wideReads = async (tx: Tx) =>
  (
    await tx.query<{ whole: bigint; unfinished: bigint }>(
      `select (select sum(pg_stat_get_xact_numscans(inhrelid))::bigint from pg_inherits where inhparent = 'payment'::regclass) as whole,
         (select sum(pg_stat_get_xact_numscans(inhrelid))::bigint from pg_inherits where inhparent = 'payment_unfinished'::regclass) as unfinished`,
    )
  ).rows[0]

test('a sale is found by its keys, by plans too that were made when there were few payments', async () => {
  // Enough times on one connection that plans are kept.
  for (let batch = 0; batch < 30; batch += 1) await db.database.transaction((tx) => sell(tx, batch))
  const seen = await db.database.transaction(async (tx) => {
    await sell(tx, 30)
    return wideReads(tx)
  })
  expect(seen).toEqual({ whole: 0n, unfinished: 0n })
})
