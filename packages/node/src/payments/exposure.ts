import type { Clock } from '../kernel/clock.ts'
import type { Micro } from '../kernel/money.ts'
import type { Sql } from '../store/database.ts'

const refreshMs = 1_000

/**
 * Caps the value that was served and is not final yet, plus what is about to be. The sum of all processes is read every
 * second; what this process adds in between is counted on top, so one process cannot run past the cap within a second.
 */
export function createExposure(sql: Sql, clock: Clock, capMicro: Micro) {
  let knownMicro = 0n
  let addedMicro = 0n
  let readAtMs = Number.NEGATIVE_INFINITY
  let reading: Promise<void> | undefined

  async function refresh(): Promise<void> {
    const { rows } = await sql.query<{ micro: bigint }>(
      `select coalesce(sum(amount_micro), 0)::bigint as micro from payment
       where (not final and state in ('settled','served','credited')) or state in ('settling','unknown')`,
    )
    knownMicro = rows[0]?.micro ?? 0n
    addedMicro = 0n
    readAtMs = clock.monotonicMs()
  }

  return {
    /** True when this much more may be taken; it is then counted. */
    async admit(amountMicro: Micro): Promise<boolean> {
      if (clock.monotonicMs() - readAtMs >= refreshMs) {
        reading ??= refresh().finally(() => {
          reading = undefined
        })
        await reading
      }
      if (knownMicro + addedMicro + amountMicro > capMicro) return false
      addedMicro += amountMicro
      return true
    },
    current: (): Micro => knownMicro + addedMicro,
  }
}

export type Exposure = ReturnType<typeof createExposure>
