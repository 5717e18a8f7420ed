import type { Micro } from '@assay/protocol/money'
import type { Clock } from '../../kernel/clock.ts'
import type { Sql } from '../../store/database.ts'

/** Counts one more settlement of this month (UTC) and gives the number it has in it, over all processes. */
export async function countSettlement(sql: Sql, facilitator: string, clock: Clock): Promise<bigint> {
  const month = `${new Date(clock.nowMs()).toISOString().slice(0, 7)}-01`
  const { rows } = await sql.query<{ settled: bigint }>(
    `insert into facilitator_usage as u (facilitator, month, settled) values ($1, $2, 1)
     on conflict (facilitator, month) do update set settled = u.settled + 1 returning settled`,
    [facilitator, month],
  )
  return BigInt(rows[0]?.settled ?? 0n)
}

/** The price list of CDP: so many settlements a month are free, each further one costs the same. */
export function cdpFeeMicro(numberThisMonth: bigint, freePerMonth: bigint): Micro {
  return numberThisMonth > freePerMonth ? 1_000n : 0n
}
