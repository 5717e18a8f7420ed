import type { Sql } from './database.ts'

/**
 * What this process knows to be committed. After a standby was promoted a synchronous one has all of it; one that lagged
 * behind, or a database that was recovered to an earlier time, has not.
 */
export type Acknowledged = {
  /** Their buyers have the answer. */
  served(paymentIds: readonly string[]): void
  /** The timeline of the server at the last check. */
  timeline(): bigint | undefined
  /** Advances the position in the database and remembers it with the timeline. */
  note(sql: Sql, timeline: bigint | null): Promise<void>
  /** Whether all of it is there on the timeline that follows the one known. False where that is not certain. */
  isKept(sql: Sql, timeline: bigint): Promise<boolean>
}

type Look = { timeline: bigint; position: bigint; synchronous: boolean }

/** More than all connections can have committed at the same time: what is lost are the last commits, never one between others. */
const rememberedMax = 256

export const timelineSql = `substring(pg_walfile_name(pg_current_wal_lsn()) for 8)`

export function createAcknowledged(): Acknowledged {
  const payments: string[] = []
  let last: Look | undefined
  return {
    served: (paymentIds) => {
      payments.push(...paymentIds)
      if (payments.length > rememberedMax) payments.splice(0, payments.length - rememberedMax)
    },
    timeline: () => last?.timeline,
    note: async (sql, timeline) => {
      if (timeline === null) return
      const { rows } = await sql.query<{ position: bigint; timeline: string; synchronous: boolean }>(
        `update instance set position = position + 1 returning position, ${timelineSql} as timeline,
           current_setting('synchronous_standby_names') <> '' and current_setting('synchronous_commit') in ('on', 'remote_apply') as synchronous`,
      )
      const look = rows[0]
      // A promotion in between is found at the next check, by what is remembered of the one before.
      if (look && BigInt(`0x${look.timeline}`) === timeline) last = { ...look, timeline }
    },
    isKept: async (sql, timeline) => {
      if (!last?.synchronous || timeline !== last.timeline + 1n) return false
      const { rows } = await sql.query<{ kept: boolean }>(
        `select position >= $1 and not exists (
           select from unnest($2::text[]) as t(id) left join payment p using (id) where p.settled_at is null) as kept
         from instance`,
        [last.position, payments],
      )
      return rows[0]?.kept === true
    },
  }
}
