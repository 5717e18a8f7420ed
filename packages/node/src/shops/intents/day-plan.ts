import type { Sql, Tx } from '@assay/till/store/database'
import type { ClusterTable } from './clusters.ts'
import { choosePlan, type Plan, type SeenTraffic, widest } from './plan.ts'
import type { IntentSettings } from './settings.ts'

const dayMs = 86_400_000
export const dayStartMs = (atMs: number): number => Math.floor(atMs / dayMs) * dayMs

type Deps = { settings: IntentSettings; clusterTable: ClusterTable }

/**
 * How the day of this moment is cut. Decided once, from what the day before published, so that it tells nothing that was
 * not published; a day that published nothing is followed by the widest plan.
 */
export async function planOfDay(tx: Tx, { settings, clusterTable }: Deps, atMs: number): Promise<Plan> {
  if (settings.fixedPlan) return settings.fixedPlan
  const startMs = dayStartMs(atMs)
  const known = await storedPlan(tx, startMs)
  if (known) return known
  const plan = choosePlan(settings, await seenTraffic(tx, clusterTable, startMs))
  await tx.query(
    `insert into intent_plan (day, bucket_ms, tiers) values (($1::timestamptz at time zone 'UTC')::date, $2, $3)`,
    [new Date(startMs), plan.bucketMs, plan.tiers],
  )
  return plan
}

/** The newest plan, for those who only read. */
export async function planInForce(sql: Sql, { settings }: Pick<Deps, 'settings'>): Promise<Plan> {
  return settings.fixedPlan ?? (await storedPlan(sql)) ?? widest
}

async function storedPlan(sql: Sql, dayMsOrNewest?: number): Promise<Plan | undefined> {
  const { rows } = await sql.query<{ bucket_ms: bigint; tiers: number }>(
    `select bucket_ms, tiers from intent_plan
     where $1::timestamptz is null or day = ($1::timestamptz at time zone 'UTC')::date order by day desc limit 1`,
    [dayMsOrNewest === undefined ? null : new Date(dayMsOrNewest)],
  )
  return rows[0] && { bucketMs: Number(rows[0].bucket_ms), tiers: rows[0].tiers }
}

/** Mean demand of the broadest topics in the buckets of the day before. */
async function seenTraffic(sql: Sql, clusterTable: ClusterTable, startMs: number): Promise<SeenTraffic | undefined> {
  const { rows } = await sql.query<{ demand: number; length: number; buckets: number }>(
    `with bucket as (select starts_at, ends_at from intent_bucket where ends_at > $1 and ends_at <= $2),
       length as (select max(extract(epoch from ends_at - starts_at)) as seconds, count(*)::integer as buckets from bucket)
     select sum(e.demand)::double precision / l.buckets as demand, l.seconds::double precision * 1000 as length, l.buckets
     from intent_event e cross join length l
     where e.cluster = any($3) and e.ends_at > $1 and e.ends_at <= $2 group by e.cluster, l.seconds, l.buckets`,
    [new Date(startMs - dayMs), new Date(startMs), clusterTable.childrenOf(null).map(({ id }) => id)],
  )
  return rows[0] && { bucketMs: rows[0].length, demands: rows.map(({ demand }) => demand) }
}
