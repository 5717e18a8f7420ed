import type { Address } from '@assay/protocol/address'
import type { Network } from '../chain/index.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Database } from '../store/database.ts'

export type LossLimits = {
  failuresPerPayerPerDay: number
  /** In the coin of each network, as a gwei is worth a thousand times more on one chain than on another. */
  gasGweiPerRoutePerDay(network: string): bigint
}

/** Nothing is sold on a network that is not open, so nothing may be lost there. */
export function lossLimitsOf(networks: Iterable<Pick<Network, 'caip2' | 'lostGasGweiPerDay'>>): LossLimits {
  const gasGwei = new Map([...networks].map(({ caip2, lostGasGweiPerDay }) => [caip2, lostGasGweiPerDay]))
  return { failuresPerPayerPerDay: 50, gasGweiPerRoutePerDay: (network) => gasGwei.get(network) ?? 0n }
}

const refreshMs = 5_000
/** Losses on one chain say nothing about selling on another. */
const routeKey = (network: string, routeId: string) => `${network} ${routeId}`
const utcDay = (nowMs: number) => new Date(nowMs).toISOString().slice(0, 10)

/** Daily limits of what failed settlements may cost us, per payer and per route. */
export function createLosses(database: Database, clock: Clock, limits: LossLimits) {
  let blocked = new Set<string>()
  let readAtMs = Number.NEGATIVE_INFINITY

  const gasLimitOf = (key: string) => limits.gasGweiPerRoutePerDay(key.split(' ')[0] ?? '')

  async function read(): Promise<Set<string>> {
    const { rows } = await database.query<{ scope: string; key: string; gas_gwei: bigint }>(
      `select scope, key, gas_gwei from settlement_loss
       where day = $1 and (scope = 'route' or (scope = 'payer' and failures >= $2))`,
      [utcDay(clock.nowMs()), limits.failuresPerPayerPerDay],
    )
    const over = rows.filter((row) => row.scope === 'payer' || row.gas_gwei >= gasLimitOf(row.key))
    return new Set(over.map((row) => `${row.scope} ${row.key}`))
  }

  /** Callers that find the last read too old share the next one. */
  let reading: Promise<void> | undefined
  function refresh(): Promise<void> {
    if (reading) return reading
    const mine: Promise<void> = read()
      .then((over) => {
        // A loss was recorded meanwhile, which this may not have seen.
        if (reading !== mine) return
        blocked = over
        readAtMs = clock.monotonicMs()
      })
      .finally(() => {
        if (reading === mine) reading = undefined
      })
    reading = mine
    return mine
  }

  return {
    async allows(payer: Address, network: string, routeId: string): Promise<boolean> {
      if (clock.monotonicMs() - readAtMs >= refreshMs) await refresh()
      return (
        blocked.size === 0 || !(blocked.has(`payer ${payer}`) || blocked.has(`route ${routeKey(network, routeId)}`))
      )
    },
    async record(payer: Address, network: string, routeId: string, gasGwei: bigint): Promise<void> {
      await database.query(
        `insert into settlement_loss as l (day, scope, key, failures, gas_gwei)
         values ($1, 'payer', $2, 1, $4), ($1, 'route', $3, 1, $4)
         on conflict (day, scope, key) do update set failures = l.failures + 1, gas_gwei = l.gas_gwei + excluded.gas_gwei`,
        [utcDay(clock.nowMs()), payer, routeKey(network, routeId), gasGwei],
      )
      readAtMs = Number.NEGATIVE_INFINITY
      reading = undefined
    },
  }
}

export type Losses = ReturnType<typeof createLosses>
