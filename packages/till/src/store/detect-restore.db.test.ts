import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../kernel/clock.ts'
import { silentLog } from '../kernel/log.ts'
import { createAcknowledged } from './acknowledged.ts'
import { type DetectDeps, detectRestore, readServer } from './detect-restore.ts'
import { ensureInstance } from './instance.ts'
import {
  authorizationSecondsMax,
  gapUntil,
  isRestoring,
  lapseGaps,
  lastSeenBeforeRestore,
  markReconciled,
  readGap,
  recordRestore,
} from './restore.ts'
import { useTestDatabase } from './use-database.fixture.ts'

const base = 'eip155:8453'
const polygon = 'eip155:137'
let home: string
let alarms: string[]
let deps: DetectDeps

const db = await useTestDatabase()
await ensureInstance(db.database, { mode: 'demo', chains: [], assets: {}, payees: {}, keyId: 'key' })
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'assay-home-'))
  alarms = []
  deps = {
    database: db.database,
    home,
    clock: systemClock,
    log: silentLog,
    metrics: { count: (_name, labels) => alarms.push(labels?.['alarm'] ?? ''), gauge: () => {}, observeMs: () => {} },
    heads: async () =>
      new Map([
        [base, 100n],
        [polygon, 900n],
      ]),
  }
  await detectRestore(deps)
  alarms.length = 0
  await markReconciled(db.database, base, 10n ** 9n)
  await markReconciled(db.database, polygon, 10n ** 9n)
})
afterEach(() => rm(home, { recursive: true, force: true }))

test('the node role may read all that tells a restored server', async () => {
  const facts = await readServer(db.database)
  expect(facts.systemIdentifier).toMatch(/^\d{10,}$/)
  expect(facts.timeline).toBeGreaterThan(0n)
  expect(facts.walBytes).toBeGreaterThan(0n)
})

test('a managed server that refuses one of these functions tells the others', async () => {
  const query = async (...given: Parameters<typeof db.database.query>) => {
    if (String(given[0]).includes('pg_control_system')) throw new Error('permission denied')
    return db.database.query(...given)
  }
  const facts = await readServer({ ...db.database, query: query as typeof db.database.query })
  expect(facts.systemIdentifier).toBeNull()
  expect(facts.timeline).toBeGreaterThan(0n)
  expect(facts.walBytes).toBeGreaterThan(0n)
})

test('a position that another process of the same folder notes meanwhile is no restore', async () => {
  const other = async () => {
    await db.database.query(`select pg_logical_emit_message(true, 'test', 'moves the log on')`)
    await detectRestore(deps)
    return undefined
  }
  const database: DetectDeps['database'] = { ...db.database }
  let asked = 0
  // The other process works after each of our questions to the database.
  database.query = (async (...given: Parameters<typeof db.database.query>) => {
    const result = await db.database.query(...given)
    asked += 1
    await other()
    return result
  }) as typeof db.database.query
  expect(await detectRestore({ ...deps, database })).toBeUndefined()
  expect(asked).toBeGreaterThan(1)
})

test('the same server at a later time is no restore', async () => {
  expect(await detectRestore(deps)).toBeUndefined()
  expect(await isRestoring(db.database, base)).toBe(false)
})

for (const [what, change] of [
  ['a dump loaded into another server', `update instance set system_identifier = '1'`],
  ['recovery to an earlier time, or a promoted standby', `update instance set timeline = timeline + 1`],
] as const)
  test(`${what} is noticed once, on every network, and ends when the chain is reconciled`, async () => {
    await db.owner.query(change)
    expect(await detectRestore(deps)).toBeDefined()
    expect(await detectRestore(deps)).toBeUndefined()
    expect(alarms).toEqual(['restored', 'restored'])
    expect(await markReconciled(db.database, base, 99n)).toBe(false)
    expect(await markReconciled(db.database, base, 100n)).toBe(true)
    expect(await isRestoring(db.database, base)).toBe(false)
    expect(await isRestoring(db.database, polygon)).toBe(true)
  })

/** The same rows on a server that was promoted so many times since. */
function afterPromotions(times: bigint, synchronous = true): DetectDeps['database'] {
  const query = async (...given: Parameters<typeof db.database.query>) => {
    const text = typeof given[0] === 'string' ? given[0] : given[0].text
    const { rows, rowCount } = await db.database.query<Record<string, unknown>>(...given)
    const later = (value: unknown) => (BigInt(`0x${value}`) + times).toString(16).padStart(8, '0')
    const changed = rows.map((row) => ({
      ...row,
      ...(text.includes('pg_walfile_name') ? { timeline: later(row['timeline']) } : {}),
      ...('synchronous' in row ? { synchronous } : {}),
    }))
    return { rows: changed, rowCount }
  }
  return { ...db.database, query: query as typeof db.database.query }
}

test('a promoted standby is no restore for a process that finds all that was acknowledged', async () => {
  const acknowledged = createAcknowledged()
  const on = (times: bigint, synchronous?: boolean) =>
    detectRestore({ ...deps, acknowledged, database: afterPromotions(times, synchronous) })
  await on(0n)
  expect(await on(1n)).toBeUndefined()
  expect(await on(2n)).toBeUndefined()
  expect(alarms).toEqual([])
  // Two at once: what the server between them acknowledged, and to whom, is not known.
  expect(await on(4n)).toContain('timeline')
  expect(alarms).toEqual(['restored', 'restored'])
})

test('another process that saw the same promotion takes nothing from the first one', async () => {
  const [first, second] = [createAcknowledged(), createAcknowledged()]
  const on = (times: bigint, acknowledged: typeof first) =>
    detectRestore({ ...deps, acknowledged, database: afterPromotions(times) })
  await on(0n, first)
  await on(0n, second)
  second.served(['a payment that is not there'])
  expect(await on(1n, first)).toBeUndefined()
  expect(await on(1n, second)).toContain('timeline')
})

for (const [what, lose] of [
  ['commits did not wait for a standby', async () => {}],
  ['a served payment is missing', async (acknowledged) => acknowledged.served(['lost'])],
  [
    'it is behind the last check',
    async () => void (await db.owner.query('update instance set position = position - 1')),
  ],
  ['the process started after it', undefined],
] as [string, ((acknowledged: ReturnType<typeof createAcknowledged>) => Promise<void>) | undefined][])
  test(`a promoted standby is a restore where ${what}`, async () => {
    const acknowledged = createAcknowledged()
    const database = afterPromotions(0n, !what.includes('wait'))
    if (lose) await detectRestore({ ...deps, acknowledged, database })
    await lose?.(acknowledged)
    expect(await detectRestore({ ...deps, acknowledged, database: afterPromotions(1n) })).toContain('timeline')
    expect(await isRestoring(db.database, base)).toBe(true)
  })

test('what was sold before a restore can be included again until its authorization has expired in a final block', async () => {
  await recordRestore(db.database, deps, { network: 'eip155:1', untilBlock: 100n, reason: 'test' })
  const seconds = Math.floor(systemClock.nowMs() / 1_000)
  const lapse = (number: bigint, timestamp: number) => lapseGaps(db.database, 'eip155:1', { number, timestamp })
  await lapse(150n, seconds + authorizationSecondsMax - 60)
  expect(await gapUntil(db.database, 'eip155:1')).toBeGreaterThan(10n ** 18n)
  await lapse(200n, seconds + authorizationSecondsMax + 60)
  await lapse(300n, seconds + authorizationSecondsMax + 120)
  expect(await gapUntil(db.database, 'eip155:1')).toBe(200n)
  // Found again while it is open, it begins again.
  await recordRestore(db.database, deps, { network: 'eip155:1', untilBlock: 400n, reason: 'test' })
  expect(await gapUntil(db.database, 'eip155:1')).toBeGreaterThan(10n ** 18n)
  expect(await gapUntil(db.database, 'eip155:2')).toBeUndefined()
})

test('an older copy of the data folder is noticed by the position noted beside it', async () => {
  const file = join(home, 'database-position.json')
  const noted = JSON.parse(await readFile(file, 'utf8'))
  await writeFile(file, JSON.stringify({ ...noted, wal_bytes: `${BigInt(noted.wal_bytes) * 1_000n}` }))
  expect(await detectRestore(deps)).toContain('older copy')
  expect(await isRestoring(db.database, base)).toBe(true)
})

test('when the lost database was last seen is kept with the restore', async () => {
  const { seen_at: seenAt } = JSON.parse(await readFile(join(home, 'database-position.json'), 'utf8'))
  await db.owner.query(`update instance set system_identifier = '1'`)
  expect(
    await detectRestore({ ...deps, clock: { ...systemClock, nowMs: () => systemClock.nowMs() + 3_600_000 } }),
  ).toBeDefined()
  expect(await lastSeenBeforeRestore(db.database)).toBe(Date.parse(seenAt))
})

test('a damaged note, or one about another database, proves nothing', async () => {
  const file = join(home, 'database-position.json')
  const noted = JSON.parse(await readFile(file, 'utf8'))
  for (const text of ['{', '[]', JSON.stringify({ ...noted, wal_bytes: '9'.repeat(20), database_id: 'other' })]) {
    await writeFile(file, text)
    expect(await detectRestore(deps)).toBeUndefined()
  }
})

test('a gap that is found again grows and is reported once', async () => {
  const note = (untilBlock: bigint) =>
    recordRestore(db.database, deps, { network: base, untilBlock, reason: 'a custody nonce is not known' })
  expect([await note(5n), await note(9n), await note(7n)]).toEqual([true, false, false])
  expect((await readGap(db.database, base))?.untilBlock).toBe(9n)
  expect(alarms).toEqual(['restored'])
})
