import type { Sql } from '@assay/till/store/database'
import { estimateVolatility } from './domain/volatility.ts'
import type { OptionSettings } from './settings.ts'

export type ClusterIndex = {
  cluster: string
  /** Oldest first. */
  ticks: { atMs: number; valueE4: bigint; shareE12: number; agents: number | null }[]
}

/** The newest ticks of every cluster, or of one, by one method; with `upToMs` as they were then. */
export async function readIndex(
  sql: Sql,
  method: string,
  ticks: number,
  cluster?: string,
  upToMs?: number,
): Promise<ClusterIndex[]> {
  const { rows } = await sql.query<{
    cluster: string
    at: Date
    value_e4: bigint
    share_e12: bigint
    agents: number | null
  }>(
    `select cluster, at, value_e4, share_e12, agents from option_tick
     where method = $3
       and at >= (select min(at) from (select at from option_tick_proof where method = $3 and ($4::timestamptz is null or at <= $4)
         order by at desc limit $1) newest)
       and ($4::timestamptz is null or at <= $4)
       and ($2::text is null or cluster = $2) order by cluster, at`,
    [ticks, cluster ?? null, method, upToMs === undefined ? null : new Date(upToMs)],
  )
  const found = new Map<string, ClusterIndex>()
  for (const row of rows) {
    const index = found.get(row.cluster) ?? { cluster: row.cluster, ticks: [] }
    found.set(row.cluster, index)
    index.ticks.push({
      atMs: row.at.getTime(),
      valueE4: row.value_e4,
      shareE12: Number(row.share_e12),
      agents: row.agents,
    })
  }
  return [...found.values()]
}

/** All clusters by a method. */
export type IndexReader = (method: string) => Promise<ClusterIndex[]>

/** What is read is remembered until there is a newer tick. */
export function createIndexReader(sql: Sql, ticks: number): IndexReader {
  const known = new Map<string, { newestMs: number | undefined; indexes: ClusterIndex[] }>()
  return async (method) => {
    const { rows } = await sql.query<{ at: Date | null }>(
      'select max(at) as at from option_tick_proof where method = $1',
      [method],
    )
    const newestMs = rows[0]?.at?.getTime()
    const before = known.get(method)
    if (before && before.newestMs === newestMs) return before.indexes
    const indexes = await readIndex(sql, method, ticks)
    known.set(method, { newestMs, indexes })
    return indexes
  }
}

const yearMs = 365.25 * 86_400_000

/** Time to an expiry as the model counts it. */
export function yearsUntil(
  { timeScale }: Pick<OptionSettings, 'timeScale'>,
  expiresAtMs: number,
  nowMs: number,
): number {
  return Math.max(0, ((expiresAtMs - nowMs) * timeScale) / yearMs)
}

export function volatilityOf(
  { timeScale, tickMs }: Pick<OptionSettings, 'timeScale' | 'tickMs'>,
  { ticks }: ClusterIndex,
): number {
  return estimateVolatility(
    ticks.map(({ valueE4 }) => Number(valueE4)),
    yearMs / (tickMs * timeScale),
  )
}
