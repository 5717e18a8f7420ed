import type { Address } from '@assay/protocol/address'
import type { Clock } from '@assay/till/kernel/clock'
import type { Log } from '@assay/till/kernel/log'
import type { Database } from '@assay/till/store/database'

const flushMs = 2_000
const referrersMax = 10_000

export type VisitCounter = { count(referrer: Address): void; stop(): Promise<void> }

/**
 * Counts requests that named a wallet of ours as `ref`. Kept in memory for a moment: a visit is worth no separate write.
 * Wallets that never paid are not counted, for anybody can make up any number of them.
 */
export function createVisitCounter(deps: { database: Database; clock: Clock; log: Log }): VisitCounter {
  const { database, clock, log } = deps
  let visits = new Map<Address, number>()
  const stopped = new AbortController()

  const flush = async () => {
    if (visits.size === 0) return
    const taken = visits
    visits = new Map()
    await database
      .query(
        `insert into referral_visit as v (referrer, visits)
         select t.referrer, t.n from unnest($1::text[], $2::bigint[]) t (referrer, n)
           join loyalty l on l.wallet = t.referrer order by t.referrer
         on conflict (referrer) do update set visits = v.visits + excluded.visits`,
        [[...taken.keys()], [...taken.values()]],
      )
      .catch((error: unknown) => log.warn({ error: String(error) }, 'referral visits were not counted'))
  }

  const flushing = (async () => {
    while (!stopped.signal.aborted) {
      await clock.sleep(flushMs, stopped.signal).catch(() => {})
      await flush()
    }
  })()

  return {
    count: (referrer) => {
      // Made-up referrers must not fill the memory; what comes later in this moment is not counted.
      if (visits.size < referrersMax || visits.has(referrer)) visits.set(referrer, (visits.get(referrer) ?? 0) + 1)
    },
    stop: async () => {
      stopped.abort()
      await flushing
    },
  }
}
