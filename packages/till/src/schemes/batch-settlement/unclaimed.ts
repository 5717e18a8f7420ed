import type { Micro } from '@assay/protocol/money'
import type { Clock } from '../../kernel/clock.ts'
import type { Sql } from '../../store/database.ts'

const readEveryMs = 2_000

/** What all channels owe and nobody has claimed: read now and then, and counted on by this process in between. */
export function createUnclaimed(sql: Sql, clock: Clock, maxMicro: Micro) {
  let known = { micro: 0n, atMs: Number.NEGATIVE_INFINITY }
  /** Shared by the calls that need it. */
  let reading: Promise<void> | undefined
  const read = async () => {
    const { rows } = await sql.query<{ micro: bigint }>(
      `select coalesce(sum(charged_micro - claimed_micro - lost_micro), 0)::bigint as micro from channel
       where charged_micro > claimed_micro`,
    )
    known = { micro: rows[0]?.micro ?? 0n, atMs: clock.monotonicMs() }
  }
  return {
    async admits(amountMicro: Micro): Promise<boolean> {
      if (clock.monotonicMs() - known.atMs >= readEveryMs) {
        reading ??= read().finally(() => {
          reading = undefined
        })
        await reading
      }
      if (known.micro + amountMicro > maxMicro) return false
      known.micro += amountMicro
      return true
    },
  }
}

export type Unclaimed = ReturnType<typeof createUnclaimed>
