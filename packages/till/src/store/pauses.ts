import type { Clock } from '../kernel/clock.ts'
import { writeAudit } from './audit-log.ts'
import type { Database, Sql, Tx } from './database.ts'
import { StoreError } from './errors.ts'

export type PauseState = {
  paused: boolean
  /** What a pause stops, and what goes on beside it: the text of the shop that brings the pause. */
  stops: string
  leavesRunning: string
  reason: string
  changedBy: string
  changedAt: Date
}

export type Pauses = {
  all: ReadonlyMap<string, PauseState>
  /** Throws for a name without a row: a row that is missing says nothing about being allowed. */
  get(name: string): PauseState
}

type Row = {
  name: string
  paused: boolean
  stops: string
  leaves_running: string
  reason: string
  changed_by: string
  changed_at: Date
}

/** As the console and the command show them. */
export const describePauses = ({ all }: Pauses) =>
  [...all].map(([name, { paused, stops, leavesRunning, reason, changedBy, changedAt }]) => ({
    name,
    paused,
    stops,
    leaves_running: leavesRunning,
    reason,
    changed_by: changedBy,
    changed_at: changedAt.toISOString(),
  }))

export async function readPauses(sql: Sql): Promise<Pauses> {
  const { rows } = await sql.query<Row>({
    name: 'read_pauses',
    text: 'select name, paused, stops, leaves_running, reason, changed_by, changed_at from pause order by name',
  })
  const all = new Map(
    rows.map(({ name, paused, stops, leaves_running, reason, changed_by, changed_at }) => [
      name,
      { paused, stops, leavesRunning: leaves_running, reason, changedBy: changed_by, changedAt: changed_at },
    ]),
  )
  return {
    all,
    get: (name) => {
      const state = all.get(name)
      if (!state) throw new StoreError(`the pause "${name}" is missing in the database`)
      return state
    },
  }
}

type PauseChange = { name: string; paused: boolean; reason: string; by: string }

/** False when there is nothing of that name to pause. */
export function setPause(database: Database, change: PauseChange): Promise<boolean> {
  return database.transaction((tx) => changePause(tx, change))
}

export async function changePause(tx: Tx, change: PauseChange): Promise<boolean> {
  const { rowCount } = await tx.query(
    'update pause set paused = $2, reason = $3, changed_by = $4, changed_at = now() where name = $1',
    [change.name, change.paused, change.reason, change.by],
  )
  if (rowCount !== 1) return false
  await writeAudit(tx, {
    actor: change.by,
    action: change.paused ? 'pause' : 'resume',
    subject: change.name,
    details: { reason: change.reason },
  })
  return true
}

export type PauseReader = {
  /** Read from the database at most once a second and after each change; concurrent calls share one read. */
  read(): Promise<Pauses>
  /** What the newest finished read gave, without waiting; starts the next one when it is due. Undefined before the first. */
  latest(): Pauses | undefined
  stop(): Promise<void>
}

const cacheMs = 1_000

/** For use on each request. A change is announced by the database; the second is the limit should that get lost. */
export async function createPauseReader(database: Database, clock: Clock): Promise<PauseReader> {
  let cached: { value: Promise<Pauses>; atMs: number } | undefined
  let newest: Pauses | undefined
  const invalidate = () => {
    cached = undefined
  }
  const stop = await database.listen('pause', invalidate, invalidate)
  const isDue = () => cached === undefined || clock.monotonicMs() - cached.atMs >= cacheMs
  const read = (): Promise<Pauses> => {
    if (cached !== undefined && !isDue()) return cached.value
    const mine = { value: readPauses(database), atMs: clock.monotonicMs() }
    cached = mine
    mine.value.then(
      (pauses) => {
        newest = pauses
      },
      () => {
        if (cached === mine) cached = undefined
      },
    )
    return mine.value
  }
  return {
    read,
    latest: () => {
      if (isDue()) read().catch(() => {})
      return newest
    },
    stop,
  }
}
