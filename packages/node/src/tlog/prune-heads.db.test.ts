import { systemClock } from '@assay/till/kernel/clock'
import { useTestDatabase } from '@assay/till/store/use-database.fixture'
import { expect, test } from 'vitest'
import { leavesPerHead, pruneHeads } from './prune-heads.ts'
import { openLogHarness } from './restored-log.fixture.ts'
import { appendToLog } from './store.ts'

const db = await useTestDatabase()
const harness = await openLogHarness(db)

const dayMs = 86_400_000
const counted = async () => {
  const { rows } = await db.database.query<{ heads: bigint; cosignatures: bigint }>(
    `select (select count(*) from log_checkpoint) as heads, (select count(*) from log_cosignature) as cosignatures`,
  )
  return { heads: Number(rows[0]?.heads), cosignatures: Number(rows[0]?.cosignatures) }
}
const nowMs = systemClock.nowMs()

/** Heads as a log leaves them that signs one for each few leaves, all of them long ago. */
async function age(days: number): Promise<void> {
  await db.owner.query('alter table log_checkpoint disable trigger user')
  await db.owner.query('update log_checkpoint set signed_at = $1', [new Date(nowMs - days * dayMs)])
  await db.owner.query('alter table log_checkpoint enable trigger user')
}

test('heads and cosignatures stay bounded however many were signed, and every entry keeps its proof', async () => {
  let leaves = 0
  const grow = async (heads: number) => {
    for (let n = 0; n < heads; n += 1) {
      await harness.append(`leaf ${leaves}`)
      leaves += 1
      if (n % 5 === 0) await harness.compare()
    }
  }
  const large = async () => {
    const drafts = Array.from({ length: leavesPerHead }, (_, n) => ({
      kind: 'test',
      subject: `many ${leaves + n}`,
      entry: Buffer.from(`many ${leaves + n}`),
    }))
    await appendToLog(db.database, drafts)
    await harness.tree.integrate()
    leaves += leavesPerHead
  }
  await grow(120)
  const first = await harness.tree.proofOf('leaf 0', 'first')
  expect(await pruneHeads(db.database, nowMs), 'young heads stay').toBe(0)
  harness.tree.reset()
  expect(await harness.tree.proofOf('leaf 0', 'first'), 'to the byte').toEqual(first)
  const sizes: number[] = []
  for (let round = 0; round < 3; round += 1) {
    await large()
    await grow(80)
    await age(60)
    await pruneHeads(db.database, nowMs)
    const { heads, cosignatures } = await counted()
    sizes.push(heads)
    expect(cosignatures).toBeLessThanOrEqual(heads)
  }
  // 64 of the newest and one for each stretch of leaves.
  expect(Math.max(...sizes)).toBeLessThan(80)
  expect((sizes[2] as number) - (sizes[1] as number)).toBeLessThanOrEqual(2)
  harness.tree.reset()
  const after = await harness.tree.proofOf('leaf 0', 'first')
  expect(Number(after?.tree_size)).toBeGreaterThan(1)
  expect(Number(after?.tree_size)).toBeLessThanOrEqual(leavesPerHead)
  await pruneHeads(db.database, nowMs)
  harness.tree.reset()
  expect(await harness.tree.proofOf('leaf 0', 'first'), 'and from then on it is the same').toEqual(after)
  for (const subject of ['leaf 0', 'leaf 119', `leaf ${leaves - 1}`])
    expect(await harness.tree.proofOf(subject, 'first'), subject).toBeDefined()
  expect((await harness.compare()).forkReason).toBeNull()
})

test('the newest head and young ones cannot be deleted', async () => {
  const remove = () =>
    db.database.query('delete from log_checkpoint where size = (select max(size) from log_checkpoint)')
  await db.database.query('delete from log_cosignature where size = (select max(size) from log_checkpoint)')
  await expect(remove()).rejects.toThrow('still needed')
  await harness.append('one more')
  await expect(remove()).rejects.toThrow('still needed')
})
