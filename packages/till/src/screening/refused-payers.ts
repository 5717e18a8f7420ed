import type { Address } from '@assay/protocol/address'
import type { Clock } from '../kernel/clock.ts'
import type { Log } from '../kernel/log.ts'
import type { Sql } from '../store/database.ts'
import type { Screening, ScreeningHit } from './screening.ts'

/** Payers that a facilitator refused to serve: they are turned away before a claim from then on. */
export type RefusedPayers = Screening & { note(payer: Address, hit: ScreeningHit): Promise<void> }

const refusedHours = 24
const readEveryMs = 10_000

/** Kept in memory, for every purchase asks; other processes hear of a refusal within seconds. */
export function createRefusedPayers(deps: { sql: Sql; clock: Clock; log: Log }): RefusedPayers {
  const { sql, clock } = deps
  let known = new Map<Address, ScreeningHit & { until: Date }>()
  let readAtMs = Number.NEGATIVE_INFINITY
  let reading: Promise<void> | undefined

  const read = async () => {
    const { rows } = await sql.query<ScreeningHit & { payer: Address; until: Date }>(
      `select payer, source, reason, refused_until as until from refused_payer where refused_until > $1`,
      [new Date(clock.nowMs())],
    )
    known = new Map(rows.map(({ payer, ...hit }) => [payer, hit]))
    readAtMs = clock.monotonicMs() + readEveryMs
  }
  return {
    find: async (account) => {
      if (clock.monotonicMs() >= readAtMs) {
        reading ??= read().finally(() => {
          reading = undefined
        })
        await reading
      }
      const hit = known.get(account)
      return hit && hit.until.getTime() > clock.nowMs() ? { source: hit.source, reason: hit.reason } : undefined
    },
    note: async (payer, hit) => {
      const until = new Date(clock.nowMs() + refusedHours * 3_600_000)
      known.set(payer, { ...hit, until })
      await sql.query(
        `insert into refused_payer (payer, source, reason, refused_until) values ($1, $2, $3, $4)
         on conflict (payer) do update set source = excluded.source, reason = excluded.reason, refused_until = excluded.refused_until`,
        [payer, hit.source, hit.reason, until],
      )
      deps.log.warn({ payer, ...hit }, 'a facilitator does not serve this payer')
    },
  }
}
