import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { toRfc3339 } from '../kernel/clock.ts'
import { type Acknowledged, timelineSql } from './acknowledged.ts'
import type { Database, Sql } from './database.ts'
import { StoreError } from './errors.ts'
import { type RestoreDeps, recordRestore, recordRestoreAgain } from './restore.ts'

/** What tells one life of a database from another. A part that this login may not read is null and proves nothing. */
export type ServerFacts = {
  /** Differs after a dump was loaded into another server. */
  systemIdentifier: string | null
  /** Differs after recovery to an earlier time and after a standby was promoted. */
  timeline: bigint | null
  /** How far the write-ahead log is flushed. It goes back only when an older copy of the data folder is started. */
  walBytes: bigint | null
}

export type DetectDeps = RestoreDeps & {
  database: Database
  /** The data folder; a file in it remembers what the database was last seen to hold. */
  home: string | undefined
  /** The present block of each network. */
  heads(): Promise<ReadonlyMap<string, bigint>>
  /** What this process knows to be committed; without it every promoted standby counts as a restore. */
  acknowledged?: Acknowledged
  /** What the chain shows that these books did and do not know. */
  missingTransactions?(): Promise<{ reason: string; noted(): Promise<void> } | undefined>
}

/**
 * Compares the server with what was noted about it before. At the start, before anything is paid, and now and then: a
 * standby may be promoted under a running node. A synchronous one has lost nothing, which a process that saw both servers
 * can tell; any other promotion is a restore, and one round of reconciliation finds out what is missing.
 */
export async function detectRestore(deps: DetectDeps): Promise<string | undefined> {
  const { database } = deps
  const { databaseId, noted } = await readRecorded(database)
  // What was noted first: another process of the same folder may note a later position at any time.
  const marker = deps.home === undefined ? undefined : await readMarker(deps.home, databaseId)
  const facts = await readServer(database)
  const missing = await deps.missingTransactions?.()
  const reason = difference(facts, await expected(deps, facts, noted), marker) ?? missing?.reason
  if (reason !== undefined) {
    const heads = await deps.heads()
    // The gap first: a crash in between finds the same difference again.
    const lastSeenMs = marker?.seenMs
    for (const [network, untilBlock] of heads)
      await recordRestore(database, deps, { network, untilBlock, reason, lastSeenMs })
    await missing?.noted()
    await recordRestoreAgain(database)
  }
  if (isNews(facts.systemIdentifier, noted?.systemIdentifier) || isNews(facts.timeline, noted?.timeline))
    await database.query(
      'update instance set system_identifier = coalesce($1, system_identifier), timeline = coalesce($2, timeline)',
      [facts.systemIdentifier, facts.timeline],
    )
  await deps.acknowledged?.note(database, facts.timeline)
  if (deps.home !== undefined)
    await writeMarker(deps.home, { ...facts, databaseId, seenMs: deps.clock.nowMs() }).catch((error: unknown) =>
      deps.log.warn({ error: String(error) }, 'the position of the database could not be noted in the data folder'),
    )
  return reason
}

const isNews = <T>(read: T | null, noted: T | null | undefined) => read !== null && read !== noted

type Noted = Pick<ServerFacts, 'systemIdentifier' | 'timeline'>
type Marker = ServerFacts & { databaseId: string; seenMs: number | undefined }

/** What was noted, or what this process saw itself; with the new timeline where that has kept everything acknowledged. */
async function expected(
  { acknowledged, database, log }: DetectDeps,
  now: ServerFacts,
  noted: Noted | undefined,
): Promise<Noted | undefined> {
  const timeline = acknowledged?.timeline() ?? noted?.timeline
  if (!noted || timeline === undefined) return noted
  const sameServer = now.systemIdentifier !== null && now.systemIdentifier === noted.systemIdentifier
  if (!sameServer || now.timeline === null || now.timeline === timeline) return { ...noted, timeline }
  if (!(await acknowledged?.isKept(database, now.timeline))) return { ...noted, timeline }
  log.warn({ timeline: String(now.timeline) }, 'a synchronous standby was promoted; nothing acknowledged is missing')
  return { ...noted, timeline: now.timeline }
}

function difference(now: ServerFacts, noted: Noted | undefined, marker: Marker | undefined): string | undefined {
  const differs = <T>(before: T | null | undefined, after: T | null) =>
    before !== null && before !== undefined && after !== null && before !== after
  if (differs(noted?.systemIdentifier, now.systemIdentifier)) return 'the database is on another server'
  if (differs(noted?.timeline, now.timeline)) return `the timeline of the server changed to ${now.timeline}`
  // Positions in the log compare within one server and timeline only.
  if (!marker || marker.systemIdentifier !== now.systemIdentifier || marker.timeline !== now.timeline) return undefined
  if (marker.walBytes !== null && now.walBytes !== null && now.walBytes < marker.walBytes)
    return 'the data folder of the database is an older copy'
  return undefined
}

const factsSql = {
  systemIdentifier: '(select system_identifier::text from pg_control_system())',
  timeline: timelineSql,
  walBytes: `pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0')::text`,
}

type FactTexts = Record<keyof typeof factsSql, string | null>

/** All in one statement, or each alone: managed servers refuse some of these functions. */
export async function readServer(sql: Sql): Promise<ServerFacts> {
  const ask = async (names: readonly string[]): Promise<Partial<FactTexts> | undefined> => {
    const columns = names.map((name) => `${factsSql[name as keyof FactTexts]} as "${name}"`)
    return sql.query<Partial<FactTexts>>(`select ${columns.join(', ')}`).then(
      ({ rows }) => rows[0],
      () => undefined,
    )
  }
  const names = Object.keys(factsSql)
  const facts = (await ask(names)) ?? {}
  if (Object.keys(facts).length === 0) for (const name of names) Object.assign(facts, await ask([name]))
  const { systemIdentifier = null, timeline = null, walBytes = null } = facts
  return {
    systemIdentifier,
    timeline: timeline === null ? null : BigInt(`0x${timeline}`),
    walBytes: walBytes === null ? null : BigInt(walBytes),
  }
}

async function readRecorded(sql: Sql): Promise<{ databaseId: string; noted: Noted | undefined }> {
  const { rows } = await sql.query<Noted & { id: string; recorded: true | null }>(
    `select d.id::text as id, i.only_one as recorded, i.system_identifier as "systemIdentifier", i.timeline
     from database_identity d left join instance i on true`,
  )
  const [row] = rows
  if (row === undefined) throw new StoreError('the database has no id')
  return { databaseId: row.id, noted: row.recorded ? row : undefined }
}

const markerFile = 'database-position.json'

/** Undefined when there is none, or it is about another database. */
async function readMarker(home: string, databaseId: string): Promise<Marker | undefined> {
  try {
    const stored = JSON.parse(await readFile(join(home, markerFile), 'utf8')) as Record<string, unknown>
    const number = (value: unknown) => (typeof value === 'string' && /^\d{1,30}$/.test(value) ? BigInt(value) : null)
    const { database_id: id, system_identifier: systemIdentifier } = stored
    if (id !== databaseId || typeof systemIdentifier !== 'string') return undefined
    const seenMs = typeof stored['seen_at'] === 'string' ? Date.parse(stored['seen_at']) : Number.NaN
    return {
      databaseId,
      systemIdentifier,
      timeline: number(stored['timeline']),
      walBytes: number(stored['wal_bytes']),
      seenMs: Number.isNaN(seenMs) ? undefined : seenMs,
    }
  } catch {
    return undefined
  }
}

async function writeMarker(home: string, marker: Marker): Promise<void> {
  const text = JSON.stringify({
    database_id: marker.databaseId,
    system_identifier: marker.systemIdentifier,
    timeline: marker.timeline?.toString() ?? null,
    wal_bytes: marker.walBytes?.toString() ?? null,
    seen_at: marker.seenMs === undefined ? null : toRfc3339(marker.seenMs),
  })
  await mkdir(home, { recursive: true })
  // Several processes may share the folder.
  const draft = join(home, `${markerFile}.${process.pid}.part`)
  await writeFile(draft, `${text}\n`, { mode: 0o600 })
  await rename(draft, join(home, markerFile))
}
