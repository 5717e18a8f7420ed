import { systemClock } from '@assay/till/kernel/clock'
import { silentMetrics } from '@assay/till/kernel/metrics'
import { openTestDatabase, type TestDatabase } from '@assay/till/store/testing'
import { afterEach, expect, test } from 'vitest'
import { openLog } from '../open-log.ts'
import { openLogHarness, origin } from '../restored-log.fixture.ts'
import { newestCheckpoint, readEntries } from '../store.ts'
import { startNewOrigin } from './new-origin.ts'

const opened: TestDatabase[] = []
afterEach(async () => {
  for (const db of opened.splice(0)) await db.close()
})

test('a new origin says in its first leaf what it could not extend, and every entry gets a place in it', async () => {
  const db = await openTestDatabase()
  opened.push(db)
  const harness = await openLogHarness(db)
  await harness.append('one', 'two', 'three')
  await harness.compare()
  const backup = await db.copy()
  opened.push(backup)
  const { keyring, witnesses } = harness
  const restored = await openLogHarness(backup, { keyring, witnesses })
  await harness.append('lost 1', 'lost 2')
  await harness.compare()
  await restored.compare()
  await restored.append('sold after the restore')
  const last = (await newestCheckpoint(backup.database))?.note
  const next = 'test.example/log-2'
  const by = { actor: 'test', reason: 'no copy is left', nowIso: new Date(systemClock.nowMs()).toISOString() }
  expect(await startNewOrigin(backup.owner, next, by)).toEqual({ predecessor: origin })
  // A process that was started before must not sign under the old name.
  await restored.tree.integrate()
  expect(await restored.size()).toBe(0)
  const tree = openLog({ database: backup.database, clock: systemClock, metrics: silentMetrics, keyring, origin: next })
  await tree.integrate()
  const [first, ...rest] = (await readEntries(backup.database, 0, 5)).map(String)
  expect(JSON.parse(first as string)).toMatchObject({
    type: 'assay.log_origin/v1',
    origin: next,
    predecessor: origin,
    last_head: last,
    outside_size: '5',
    outside_source: 'witness witness.example/w',
  })
  expect(rest).toEqual(['one', 'two', 'three', 'sold after the restore'].map((subject) => `entry of ${subject}`))
  expect((await tree.checkpoint())?.startsWith(`${next}\n5\n`)).toBe(true)
  const { rows } = await backup.database.query('select origin, size from log_former_head')
  expect(rows).toEqual([{ origin, size: 3n }])
  await expect(startNewOrigin(backup.owner, origin, by)).rejects.toThrow('was used before')
})
