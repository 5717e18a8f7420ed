import { join } from 'node:path'
import { type Checkpoint, parseCheckpoint } from '@assay/protocol/log/checkpoint'
import { parseNoteKey } from '@assay/protocol/log/signed-note'
import { verifyConsistency } from '@assay/protocol/log/verify-proof'
import { systemClock } from '@assay/till/kernel/clock'
import { silentLog } from '@assay/till/kernel/log'
import { silentMetrics } from '@assay/till/kernel/metrics'
import { useFolder } from '@assay/till/kernel/use-folder.fixture'
import { recordRestore, recordRestoreAgain } from '@assay/till/store/restore'
import { openTestDatabase, type TestDatabase } from '@assay/till/store/testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openHeadFile } from './head-file-adapter.ts'
import { planRepair } from './repair/plan-repair.ts'
import { resumeLog } from './repair/resume.ts'
import { rewriteLog } from './repair/rewrite-log.ts'
import { readLogKeys } from './repair/trusted-head.ts'
import { copyOf, createOutsideWitness, type LogHarness, openLogHarness, origin } from './restored-log.fixture.ts'
import { databaseTime, newestCheckpoint, readEntries, readTree, rootAt } from './store.ts'

const opened: TestDatabase[] = []
let harness: LogHarness
const open = async (db: Promise<TestDatabase>, options: Parameters<typeof openLogHarness>[1] = {}) => {
  opened.push(await db)
  return openLogHarness(opened.at(-1) as TestDatabase, options)
}
beforeEach(async () => {
  harness = await open(openTestDatabase())
})
afterEach(async () => {
  for (const db of opened.splice(0)) await db.close()
})

const subjects = (from: number, until: number) => Array.from({ length: until - from }, (_, n) => `leaf ${from + n}`)

/** The backup of a log of `kept` leaves that went on to `all`: what others hold is ahead of it. */
async function restoredFrom(kept: number, all: number): Promise<LogHarness> {
  await harness.append(...subjects(0, kept))
  await harness.compare()
  const backup = harness.db.copy()
  const { keyring, witnesses } = harness
  const restored = await open(backup, { keyring, witnesses })
  await harness.append(...subjects(kept, all))
  await harness.compare()
  return restored
}

const keysOf = async ({ tree, witnesses }: LogHarness) => ({
  log: tree.keys().flatMap((vkey) => parseNoteKey(vkey) ?? []),
  witnesses: witnesses.map(({ key }) => key),
})
const by = { actor: 'test', reason: 'restored', nowMs: 1_700_000_000_000, operators: [] }

async function repair(
  target: LogHarness,
  from = harness,
): Promise<{ restored: number; moved: number; size: number } | undefined> {
  const plan = await planRepair(target.db.database, {
    copies: [await copyOf(from)],
    evidence: [],
    keys: await keysOf(target),
  })
  const done = plan && (await rewriteLog(target.db.owner, plan, [], by))
  target.tree.reset()
  return done
}

test('a restored log signs nothing while its witness has seen more, and the alarm rings once', async () => {
  const restored = await restoredFrom(3, 7)
  expect(restored.alarms).toEqual([])
  const { forkReason } = await restored.compare()
  expect(forkReason).toContain('has signed a tree of size 7, and ours has 3')
  await restored.append('sold after the restore')
  expect([await restored.size(), restored.alarms]).toEqual([3, ['log_forked']])
  await restored.compare()
  expect(restored.alarms, 'it rings once').toEqual(['log_forked'])
})

test('an empty database under a name that has a log signs nothing', async () => {
  await harness.append('one', 'two')
  await harness.compare()
  const { keyring, witnesses } = harness
  const empty = await open(openTestDatabase(), { keyring, witnesses })
  expect((await empty.compare()).forkReason).toContain('has signed a tree of size 2, and ours has 0')
  await empty.append('another one')
  expect(await empty.size()).toBe(0)
})

test('a repair brings leaves back to their places, moves what came since, and the log goes on', async () => {
  // Over the edge of a tile, so that full and partial tiles are rewritten.
  const restored = await restoredFrom(250, 600)
  await restored.compare()
  await restored.append('sold after the restore')
  expect(await repair(restored)).toMatchObject({ restored: 350, moved: 0, size: 600 })
  expect((await restored.compare()).forkReason).toBeNull()
  await restored.tree.integrate()
  expect(await restored.size()).toBe(601)
  const entries = (await readEntries(restored.db.database, 0, 601)).map(String)
  expect(entries).toEqual([...subjects(0, 600), 'sold after the restore'].map((subject) => `entry of ${subject}`))
  const proof = await restored.tree.consistency(600, 601)
  const old = parseCheckpoint((await harness.tree.checkpoint()) as string) as Checkpoint
  expect(verifyConsistency(600, 601, proof, old.root, await rootAt(restored.db.database, 601))).toBe(true)
  expect((await restored.compare()).forkReason, 'the witness signs it').toBeNull()
  expect(await repair(restored), 'nothing is left to do').toBeUndefined()
})

test('entries that were published in a fork are moved and not lost, and its heads stay on record', async () => {
  const restored = await restoredFrom(3, 6)
  // As a node without the guard would have left it.
  await restored.append('fork 1', 'fork 2', 'fork 3', 'fork 4')
  const fork = parseCheckpoint((await restored.tree.checkpoint()) as string) as Checkpoint
  expect(fork.size).toBe(7)
  expect((await restored.compare()).forkReason).toContain('another tree of size 6')
  expect(await repair(restored)).toMatchObject({ restored: 3, moved: 4, size: 6 })
  expect((await restored.compare()).forkReason).toBeNull()
  await restored.tree.integrate()
  const entries = (await readEntries(restored.db.database, 0, 10)).map(String)
  expect(entries.slice(3)).toEqual(
    [...subjects(3, 6), 'fork 1', 'fork 2', 'fork 3', 'fork 4'].map((subject) => `entry of ${subject}`),
  )
  const { rows } = await restored.db.database.query('select size, root from log_former_head')
  expect(rows).toEqual([{ size: 7n, root: Buffer.from(fork.root) }])
})

test('a copy with a changed leaf, or one that ends too early, changes nothing', async () => {
  const restored = await restoredFrom(3, 7)
  await restored.compare()
  const copy = await copyOf(harness)
  const lying = { ...copy, entries: async () => [...(await copy.entries(0, 6)), Buffer.from('forged')] }
  const keys = await keysOf(restored)
  const { database } = restored.db
  await expect(planRepair(database, { copies: [lying], evidence: [], keys })).rejects.toThrow('do not have the root')
  const noKeys = { log: await readLogKeys(database, origin), witnesses: [] }
  await expect(planRepair(database, { copies: [copy], evidence: [], keys: noKeys })).rejects.toThrow('no source shows')
  const early = await copyOf(restored)
  await expect(planRepair(database, { copies: [early], evidence: [], keys })).rejects.toThrow(
    'no source has leaf 3 of 7',
  )
  // A second copy that is right is enough.
  expect(await planRepair(database, { copies: [lying, copy], evidence: [], keys })).toMatchObject({ from: 3 })
})

test('evidence files of buyers are enough where they cover every leaf', async () => {
  const restored = await restoredFrom(3, 5)
  await restored.compare()
  const note = (await harness.tree.checkpoint()) as string
  const leaves = await Promise.all(
    (await readEntries(harness.db.database, 3, 2)).map(async (entry, n) => ({
      entry,
      hash: (
        await harness.db.database.query<{ h: Buffer }>('select leaf_hash as h from log_entry where leaf_index = $1', [
          3 + n,
        ])
      ).rows[0]?.h as Buffer,
      index: 3 + n,
      checkpoint: note,
    })),
  )
  const keys = await keysOf(restored)
  const { database, owner } = restored.db
  await expect(planRepair(database, { copies: [], evidence: leaves.slice(1), keys })).rejects.toThrow('has leaf 3 of 5')
  const plan = await planRepair(database, { copies: [], evidence: leaves, keys })
  expect(plan && (await rewriteLog(owner, plan, [], by))).toMatchObject({ restored: 2, size: 5 })
})

test('a repair that ends in the middle leaves the log as it was', async () => {
  const restored = await restoredFrom(3, 300)
  await restored.compare()
  await restored.append('sold after the restore')
  const plan = await planRepair(restored.db.database, {
    copies: [await copyOf(harness)],
    evidence: [],
    keys: await keysOf(restored),
  })
  if (!plan) throw new Error('nothing to repair')
  const { owner } = restored.db
  const state = async () => {
    const tables = ['log_entry', 'log_tile', 'log_checkpoint', 'log_cosignature', 'log_tree', 'log_former_head']
    const reads = tables.map((table) =>
      owner.query<{ row: string }>(`select t::text as row from ${table} t order by 1`),
    )
    const triggers = await owner.query(`select tgname, tgenabled from pg_trigger where tgname like 'log_%' order by 1`)
    return JSON.stringify([(await Promise.all(reads)).map(({ rows }) => rows), triggers.rows])
  }
  const before = await state()
  let statements = 0
  const breaking = (at: number): typeof owner => ({
    ...owner,
    transaction: (work) =>
      owner.transaction((tx) => {
        let n = 0
        return work({
          ...tx,
          query: (statement, values) => {
            n += 1
            statements = n
            if (n === at) throw new Error(`killed at ${at}`)
            return tx.query(statement, values)
          },
        })
      }),
  })
  for (let at = 1; ; at += 1) {
    const outcome = await rewriteLog(breaking(at), plan, [], by).catch((error: Error) => error.message)
    if (outcome !== `killed at ${at}`) {
      expect(outcome).toMatchObject({ restored: 297, size: 300 })
      break
    }
    expect(await state(), outcome).toBe(before)
  }
  expect(statements).toBeGreaterThan(15)
})

const deps = { clock: systemClock, log: silentLog, metrics: silentMetrics }
const recordRestored = async (target: LogHarness) => {
  await recordRestore(target.db.database, deps, { network: 'eip155:8453', untilBlock: 1n, reason: 'test' })
  await recordRestoreAgain(target.db.database)
}

test('after a noticed restore nothing is signed until a witness answered, or the operator says so', async () => {
  let away = true
  const [witness] = harness.witnesses
  if (!witness) throw new Error('no witness')
  const addCheckpoint: typeof witness.addCheckpoint = async (body) => {
    if (away) throw new Error('away')
    return witness.addCheckpoint(body)
  }
  const own = await open(openTestDatabase(), {
    keyring: harness.keyring,
    witnesses: [{ key: witness.key, addCheckpoint }],
  })
  await own.append('one')
  expect(await own.size()).toBe(1)
  await recordRestored(own)
  await own.append('two')
  await own.compare()
  await own.tree.integrate()
  expect([await own.size(), (await readTree(own.db.database)).restoredAt]).toEqual([1, expect.any(Date)])
  away = false
  await own.compare()
  await own.tree.integrate()
  expect(await own.size()).toBe(2)
  away = true
  await recordRestored(own)
  await own.compare()
  await own.append('three')
  expect(await own.size()).toBe(2)
  expect(await resumeLog(own.db.database, by)).toEqual({ resumed: true })
  await own.tree.integrate()
  expect(await own.size()).toBe(3)
  const { rows } = await own.db.database.query(`select actor, details from audit_log where action = 'log.resume'`)
  expect(rows).toEqual([{ actor: 'test', details: { reason: 'restored' } }])
})

test('after a noticed restore what went back with the database, or sees a head now and then, is no answer', async () => {
  const inside = { ...createOutsideWitness('inside.example/w', () => own.tree.keys()), inside: true }
  const seldom = { name: 'anchor', seesEveryHead: false, outsideHeads: async () => [] }
  const own: LogHarness = await open(openTestDatabase(), { witnesses: [inside], more: [seldom] })
  await own.append('one')
  await own.compare()
  await recordRestored(own)
  await own.compare()
  await own.append('two')
  expect([await own.size(), (await readTree(own.db.database)).restoredAt]).toEqual([1, expect.any(Date)])
  expect(await resumeLog(own.db.database, by)).toEqual({ resumed: true })
  await own.tree.integrate()
  expect(await own.size()).toBe(2)
})

test('a database that was restored alone is stopped by the head in the data folder', async () => {
  const folder = useFolder('head')
  const headFile = openHeadFile(folder)
  const first: LogHarness = await open(openTestDatabase(), { witnesses: [], more: [headFile] })
  await first.append('one')
  const backup = await first.db.copy()
  await first.append('two', 'three')
  await headFile.keep((await newestCheckpoint(first.db.database))?.note ?? '')
  await headFile.keep('no head')
  const nowhere = openHeadFile(join(folder, 'log-head'))
  const note = (await newestCheckpoint(first.db.database))?.note ?? ''
  expect([typeof (await nowhere.keep(note)), await nowhere.keep(note)]).toEqual(['string', undefined])
  expect((await first.compare()).forkReason).toBeNull()
  const restored = await open(Promise.resolve(backup), {
    keyring: first.keyring,
    witnesses: [],
    more: [openHeadFile(folder)],
  })
  expect((await restored.compare()).forkReason).toContain('data folder holds a signed head of size 3')
  await restored.append('another two')
  expect(await restored.size()).toBe(1)
  // Of another log, it says nothing.
  const other = await open(openTestDatabase(), { witnesses: [], more: [openHeadFile(folder)] })
  await other.append('one')
  expect([(await other.compare()).forkReason, await other.size()]).toEqual([null, 1])
})

test('a head that a stranger signed under our name stops nothing; one that we signed does', async () => {
  const notes: string[] = []
  const source = {
    name: 'peer',
    seesEveryHead: false,
    outsideHeads: async () => notes.map((note) => ({ source: 'peer', note })),
  }
  const { keyring } = harness
  await harness.append('one', 'two', 'three')
  const own = await open(openTestDatabase(), { keyring, witnesses: [], more: [source] })
  const stranger = await open(openTestDatabase())
  await own.append('one')
  await stranger.append('one', 'four', 'five')
  notes.push((await stranger.tree.checkpoint()) as string)
  expect((await own.compare()).forkReason).toBeNull()
  notes.push((await harness.tree.checkpoint()) as string)
  expect((await own.compare()).forkReason).toContain('peer holds a signed head of size 3')
  notes.length = 0
  expect((await own.compare()).forkReason, 'it proves itself, whether it is shown again or not').not.toBeNull()
})

test('a kept head that only a key revoked since had signed stops nothing any more', async () => {
  await harness.append('one', 'two', 'three')
  const stolen = (await harness.tree.checkpoint()) as string
  const source = {
    name: 'peer',
    seesEveryHead: false,
    outsideHeads: async () => [{ source: 'peer', note: stolen }],
  }
  const own = await open(openTestDatabase(), { keyring: harness.keyring, witnesses: [], more: [source] })
  await own.append('another')
  expect((await own.compare()).forkReason).toContain('peer holds a signed head of size 3')
  // The operator takes that key back and names another: what it signed is no word of this log.
  const renewed = await openLogHarness(own.db, { witnesses: [], more: [source] })
  expect((await renewed.compare()).forkReason).toBeNull()
  await renewed.append('goes on')
  expect(await renewed.size()).toBe(2)
})

test('a process that has just started signs nothing until a witness has answered, restored or not', async () => {
  await harness.append('one')
  await harness.compare()
  const { keyring, witnesses } = harness
  const away = witnesses.map((witness) => ({ ...witness, addCheckpoint: () => Promise.reject(new Error('away')) }))
  const copy = opened.at(-1) as TestDatabase
  const started = await openLogHarness(copy, {
    keyring,
    witnesses: away,
    confirmAfter: await databaseTime(copy.database),
  })
  await started.compare()
  await started.append('two')
  expect(await started.size(), 'nobody was there to ask').toBe(1)
  await harness.compare()
  await started.tree.integrate()
  expect(await started.size(), 'another process was notified that the tree is right').toBe(2)
})

test('the operator may answer for a start without witnesses, but not for a fork', async () => {
  await harness.append('one')
  const started = await openLogHarness(harness.db, {
    keyring: harness.keyring,
    witnesses: harness.witnesses,
    confirmAfter: await databaseTime(harness.db.database),
  })
  await started.append('two')
  expect(await started.size()).toBe(1)
  expect(await resumeLog(harness.db.database, by)).toEqual({ resumed: true })
  await started.tree.integrate()
  expect(await started.size()).toBe(2)
})

test('a fork that a witness showed stays known when the witness is no longer configured', async () => {
  const restored = await restoredFrom(3, 7)
  await restored.compare()
  const without = await openLogHarness(restored.db, { keyring: restored.keyring, witnesses: [] })
  expect((await without.compare()).forkReason).toContain('holds a signed head of size 7')
  await without.append('sold after the witness was removed')
  expect(await without.size()).toBe(3)
})
