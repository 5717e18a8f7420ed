import type { Clock } from '@assay/till/kernel/clock'
import type { Database, Sql } from '@assay/till/store/database'
import type { DueFile, SourceId } from '../sources/source.ts'
import type { FetchPlan } from './fetch-plan.ts'

type Deps = { database: Database; clock: Clock }

export type FetchState = {
  etag: string | null
  last_modified: string | null
  last_status: string
  failures: number
  checked_at: Date
  next_at: Date
}

/** What the last fetch of an address found. */
export async function readState({ database }: Deps, url: string): Promise<FetchState | undefined> {
  const { rows } = await database.query<FetchState>(
    'select etag, last_modified, last_status, failures, checked_at, next_at from matrix_fetch where url = $1',
    [url],
  )
  return rows[0]
}

export async function saveState(
  deps: Deps,
  source: SourceId,
  due: DueFile,
  next: {
    status: string
    failures: number
    nextAtMs: number
    headers: ReadonlyMap<string, string> | undefined
    state: FetchState | undefined
  },
): Promise<void> {
  await deps.database.query(
    `insert into matrix_fetch (url, source, period, etag, last_modified, last_status, failures, checked_at, next_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
     on conflict (url) do update set period = excluded.period, etag = excluded.etag, last_modified = excluded.last_modified,
       last_status = excluded.last_status, failures = excluded.failures, checked_at = excluded.checked_at, next_at = excluded.next_at`,
    [
      due.url,
      source,
      due.period,
      next.headers?.get('etag') ?? next.state?.etag ?? null,
      next.headers?.get('last-modified') ?? next.state?.last_modified ?? null,
      next.status,
      next.failures,
      new Date(deps.clock.nowMs()),
      new Date(next.nextAtMs),
    ],
  )
}

/** Whether what an address gives is here, also when it came as a file: the same rows are not taken twice. */
export async function heldAlready({ database }: Deps, plan: FetchPlan, due: DueFile): Promise<boolean> {
  if (plan.files === undefined || due.period === '') return false
  const alone = plan.source !== 'nyse-threshold'
  const { rowCount } = await database.query(
    `select from matrix_file where source = $1 and not synthetic and (url = $2 or name = $3 or ($4 and period = $5)) limit 1`,
    [plan.source, due.url, due.name, alone, due.period],
  )
  return rowCount > 0
}

/** How the newest fetch of each source went. */
export type LastFetch = { status: string; checkedAtMs: number; nextAtMs: number }

/** Kept in memory, for answers that do no I/O. */
export type LastFetches = { last(): ReadonlyMap<SourceId, LastFetch>; refresh(): Promise<void> }

export function createLastFetches(sql: Sql): LastFetches {
  let known: ReadonlyMap<SourceId, LastFetch> = new Map()
  return {
    last: () => known,
    refresh: async () => {
      known = await readLastFetches(sql)
    },
  }
}

async function readLastFetches(sql: Sql): Promise<Map<SourceId, LastFetch>> {
  const { rows } = await sql.query<{ source: SourceId; last_status: string; checked_at: Date; next_at: Date }>(
    `select distinct on (source) source, last_status, checked_at, next_at from matrix_fetch
     order by source, checked_at desc, period desc`,
  )
  return new Map(
    rows.map(({ source, last_status, checked_at, next_at }) => [
      source,
      { status: last_status, checkedAtMs: checked_at.getTime(), nextAtMs: next_at.getTime() },
    ]),
  )
}
