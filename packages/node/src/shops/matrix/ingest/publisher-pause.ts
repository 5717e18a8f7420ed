import type { Clock } from '@assay/till/kernel/clock'
import type { Database } from '@assay/till/store/database'
import type { FetchPlan } from './fetch-plan.ts'

type Deps = { database: Database; clock: Clock }

/** Longer than this nobody waits in line: the file is looked for again in the next round. */
const lineMs = 60_000

/**
 * Takes the next moment at which the publisher may be asked and waits for it. All processes stand in one line. False when
 * the publisher asked for a longer pause.
 */
export async function awaitTurn({ database, clock }: Deps, plan: FetchPlan, signal?: AbortSignal): Promise<boolean> {
  const nowMs = clock.nowMs()
  const { rows } = await database.query<{ turn_at: Date }>(
    `insert into matrix_publisher as p (name, next_at) values ($1, $2::timestamptz + $3 * interval '1 millisecond')
     on conflict (name) do update set next_at = greatest(p.next_at, $2) + $3 * interval '1 millisecond'
       where p.next_at <= $2::timestamptz + $4 * interval '1 millisecond'
     returning next_at - $3 * interval '1 millisecond' as turn_at`,
    [plan.publisher, new Date(nowMs), plan.minRequestIntervalMs, Math.max(lineMs, plan.minRequestIntervalMs * 2)],
  )
  const turnAt = rows[0]?.turn_at
  if (turnAt === undefined) return false
  if (turnAt.getTime() > nowMs) await clock.sleep(turnAt.getTime() - nowMs, signal)
  return true
}

/** Nobody asks the publisher before this moment. */
export async function holdPublisher({ database }: Deps, plan: FetchPlan, untilMs: number): Promise<void> {
  await database.query(
    `insert into matrix_publisher as p (name, next_at) values ($1, $2)
     on conflict (name) do update set next_at = greatest(p.next_at, excluded.next_at)`,
    [plan.publisher, new Date(untilMs)],
  )
}
