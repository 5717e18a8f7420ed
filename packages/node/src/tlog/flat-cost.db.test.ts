import { systemClock } from '@assay/till/kernel/clock'
import type { Database } from '@assay/till/store/database'
import { useTestDatabase } from '@assay/till/store/use-database.fixture'
import { expect, test } from 'vitest'
import { blocksRead } from './blocks-read.fixture.ts'
import { leavesPerHead, pruneHeads } from './prune-heads.ts'
import { cosignaturesOf, firstCheckpointOver, newestCheckpoint, recentPeerKeys, witnessedHeads } from './store.ts'

const db = await useTestDatabase()

/** Heads and cosignatures as a busy log leaves them: `old` stretches of long ago, one head each, and `young` heads since. */
async function addHeads(old: number, young: number): Promise<void> {
  await db.owner.query('alter table log_checkpoint disable trigger user')
  await db.owner.query('delete from log_cosignature')
  await db.owner.query('delete from log_checkpoint')
  await db.owner.query(
    `insert into log_checkpoint select n * $2::bigint, decode(repeat('ab', 32), 'hex'), 'note', now() - interval '90 days'
     from generate_series(1, $1::int) n`,
    [old, leavesPerHead],
  )
  await db.owner.query(
    `insert into log_checkpoint select $1::bigint * $2 + n, decode(repeat('ab', 32), 'hex'), 'note', now()
     from generate_series(1, $3::int) n`,
    [old, leavesPerHead, young],
  )
  await db.owner.query(
    `insert into log_cosignature select c.size, 'witness-' || w, 'line', now(), 'key-' || w, w > 2
     from log_checkpoint c cross join generate_series(1, 6) w`,
  )
  await db.owner.query('alter table log_checkpoint enable trigger user')
  await db.owner.query('vacuum analyze log_checkpoint, log_cosignature')
}

const steps = {
  'the newest head': (database: Database) => newestCheckpoint(database),
  'the first head over a leaf': (database: Database) => firstCheckpointOver(database, 5_000),
  'the witnessed heads over a leaf': (database: Database) => witnessedHeads(database, 5_000),
  'the cosignatures of a head': (database: Database) => cosignaturesOf(database, leavesPerHead),
  'the peers that cosigned lately': (database: Database) => recentPeerKeys(database),
}

test('what a proof or a check of the witnesses reads does not grow with the heads that were ever signed', async () => {
  await addHeads(100, 800)
  const small = new Map<string, number>()
  for (const [name, step] of Object.entries(steps)) small.set(name, await blocksRead(db.database, step))
  await addHeads(1_000, 8_000)
  for (const [name, step] of Object.entries(steps)) {
    const [before, after] = [small.get(name) as number, await blocksRead(db.database, step)]
    expect(after / Math.max(before, 10), `${name}: ${before} blocks, then ${after}`).toBeLessThan(2)
  }
}, 180_000)

test('pruning reads what is old, however many heads and cosignatures were signed since', async () => {
  const prune = (database: Database) => pruneHeads(database, systemClock.nowMs())
  await addHeads(500, 1_000)
  const before = await blocksRead(db.database, prune)
  await addHeads(500, 8_000)
  const after = await blocksRead(db.database, prune)
  expect(after / before, `${before} blocks, then ${after}`).toBeLessThan(2)
}, 180_000)

test('heads that were decided about once are not read by the next pruning, however many there are', async () => {
  const again = async (old: number) => {
    await addHeads(old, 100)
    await db.owner.query('update log_tree set size = $1, pruned_to = 0', [old * leavesPerHead + 100])
    await pruneHeads(db.database, systemClock.nowMs())
    return blocksRead(db.database, (database) => pruneHeads(database, systemClock.nowMs()))
  }
  const [before, after] = [await again(100), await again(3_000)]
  expect(after / before, `${before} blocks, then ${after}`).toBeLessThan(2)
})
