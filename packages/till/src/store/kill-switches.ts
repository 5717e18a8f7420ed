import type { Clock } from '../kernel/clock.ts'
import { writeAudit } from './audit-log.ts'
import type { Database, Sql } from './database.ts'
import { StoreError } from './errors.ts'

export const switchNames = ['paid', 'payouts', 'facilitator', 'options'] as const
export type SwitchName = (typeof switchNames)[number]

/** A switch that is on stops what it names. */
export type SwitchState = { on: boolean; reason: string; changedBy: string; changedAt: Date }
export type Switches = Readonly<Record<SwitchName, SwitchState>>

type Row = { name: SwitchName; is_on: boolean; reason: string; changed_by: string; changed_at: Date }

export async function readSwitches(sql: Sql): Promise<Switches> {
  const { rows } = await sql.query<Row>({
    name: 'read_kill_switches',
    text: 'select name, is_on, reason, changed_by, changed_at from kill_switch',
  })
  const found = new Map(rows.map((row) => [row.name, row]))
  const entries = switchNames.map((name) => {
    const row = found.get(name)
    // A row that is missing says nothing about being allowed.
    if (!row) throw new StoreError(`the kill switch "${name}" is missing in the database`)
    return [name, { on: row.is_on, reason: row.reason, changedBy: row.changed_by, changedAt: row.changed_at }] as const
  })
  return Object.fromEntries(entries) as Switches
}

export async function setSwitch(
  database: Database,
  change: { name: SwitchName; on: boolean; reason: string; by: string },
): Promise<void> {
  await database.transaction(async (tx) => {
    const { rowCount } = await tx.query(
      'update kill_switch set is_on = $2, reason = $3, changed_by = $4, changed_at = now() where name = $1',
      [change.name, change.on, change.reason, change.by],
    )
    if (rowCount !== 1) throw new StoreError(`there is no kill switch "${change.name}"`)
    await writeAudit(tx, {
      actor: change.by,
      action: change.on ? 'kill_switch.on' : 'kill_switch.off',
      subject: change.name,
      details: { reason: change.reason },
    })
  })
}

export type SwitchReader = {
  /** Read from the database at most once a second and after each change; concurrent calls share one read. */
  read(): Promise<Switches>
  /** What the newest finished read gave, without waiting; starts the next one when it is due. Undefined before the first. */
  latest(): Switches | undefined
  stop(): Promise<void>
}

const cacheMs = 1_000

/** For use on each request. A change is announced by the database; the second is the limit should that get lost. */
export async function createSwitchReader(database: Database, clock: Clock): Promise<SwitchReader> {
  let cached: { value: Promise<Switches>; atMs: number } | undefined
  let newest: Switches | undefined
  const forget = () => {
    cached = undefined
  }
  const stop = await database.listen('kill_switch', forget, forget)
  const isDue = () => cached === undefined || clock.monotonicMs() - cached.atMs >= cacheMs
  const read = (): Promise<Switches> => {
    if (cached !== undefined && !isDue()) return cached.value
    const mine = { value: readSwitches(database), atMs: clock.monotonicMs() }
    cached = mine
    mine.value.then(
      (switches) => {
        newest = switches
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
