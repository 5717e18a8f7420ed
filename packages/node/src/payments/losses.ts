import type { Address } from '../kernel/address.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Database } from '../store/database.ts'

export type LossLimits = { failuresPerPayerPerDay: number; gasGweiPerRoutePerDay: bigint }

export const defaultLossLimits: LossLimits = { failuresPerPayerPerDay: 50, gasGweiPerRoutePerDay: 50_000_000n }

const refreshMs = 5_000
const utcDay = (nowMs: number) => new Date(nowMs).toISOString().slice(0, 10)

/** Daily limits of what failed settlements may cost us, per payer and per route. */
export function createLosses(database: Database, clock: Clock, limits: LossLimits) {
  let blocked = new Set<string>()
  let readAtMs = Number.NEGATIVE_INFINITY

  async function refresh(): Promise<void> {
    const { rows } = await database.query<{ scope: string; key: string }>(
      `select scope, key from settlement_loss where day = $1
         and ((scope = 'payer' and failures >= $2) or (scope = 'route' and gas_gwei >= $3))`,
      [utcDay(clock.nowMs()), limits.failuresPerPayerPerDay, limits.gasGweiPerRoutePerDay],
    )
    blocked = new Set(rows.map((row) => `${row.scope} ${row.key}`))
    readAtMs = clock.nowMs()
  }

  return {
    async allows(payer: Address, routeId: string): Promise<boolean> {
      if (clock.nowMs() - readAtMs >= refreshMs) await refresh()
      return blocked.size === 0 || !(blocked.has(`payer ${payer}`) || blocked.has(`route ${routeId}`))
    },
    async record(payer: Address, routeId: string, gasGwei: bigint): Promise<void> {
      await database.query(
        `insert into settlement_loss as l (day, scope, key, failures, gas_gwei)
         values ($1, 'payer', $2, 1, $4), ($1, 'route', $3, 1, $4)
         on conflict (day, scope, key) do update set failures = l.failures + 1, gas_gwei = l.gas_gwei + excluded.gas_gwei`,
        [utcDay(clock.nowMs()), payer, routeId, gasGwei],
      )
      readAtMs = Number.NEGATIVE_INFINITY
    },
  }
}

export type Losses = ReturnType<typeof createLosses>
