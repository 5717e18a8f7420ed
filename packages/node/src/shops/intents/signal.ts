import type { Sql } from '@assay/till/store/database'
import { promisedError } from './plan.ts'

/** What the published figures of a day were worth, by their own error bars. */
export type Signal = { figures: number; error: number | null; fromMs: number; toMs: number }

/** Before the end of the newest bucket, however long that one was. */
const spanMs = 86_400_000

/** Computed only from what was published, so that a reader who kept the events gets the same result. */
export async function readSignal(sql: Sql): Promise<Signal | undefined> {
  const { rows } = await sql.query<{ from: Date; to: Date; figures: number; demand: number; error: number }>(
    `with newest as (select ends_at from intent_event order by ends_at desc limit 1)
     select n.ends_at - $1 * interval '1 millisecond' as from, n.ends_at as to, count(e.demand)::integer as figures,
       coalesce(sum(e.demand), 0)::double precision as demand, coalesce(sum(e.error), 0)::double precision as error
     from newest n left join intent_event e
       on e.cluster is not null and e.ends_at > n.ends_at - $1 * interval '1 millisecond' and e.ends_at <= n.ends_at
     group by n.ends_at`,
    [spanMs],
  )
  const row = rows[0]
  if (!row) return undefined
  const { figures, demand, error } = row
  return {
    figures,
    error: demand > 0 ? error / demand : null,
    fromMs: row.from.getTime(),
    toMs: row.to.getTime(),
  }
}

/** Whether the stream keeps what its description promises. */
export const keepsPromise = (signal: Signal | undefined): boolean =>
  signal?.error != null && signal.error <= promisedError

export const percent = (part: number): number => Math.round(part * 1000) / 10
