import type { Address } from '@assay/protocol/address'
import type { Clock } from '@assay/till/kernel/clock'
import type { Log } from '@assay/till/kernel/log'
import { Problem } from '@assay/till/kernel/problem'
import type { Database } from '@assay/till/store/database'
import type { Product } from './policy.ts'

/** How many streams of a subscription are open, in all processes together. Written when one opens or ends, not per event. */
export type StreamPlaces = {
  /** Throws when all places are taken; takes none. */
  requireFree(wallet: Address): Promise<void>
  /** Undefined when all are taken; otherwise how to give the place back, harmless when called twice. */
  take(wallet: Address): Promise<(() => void) | undefined>
  /** Says that this process lives; what it has open counts until some time after the last time it did. */
  renew(): Promise<void>
  stop(): Promise<void>
}

/** Long enough that a busy process keeps its places, short enough that a crash does not lock a subscriber out for long. */
const leaseMs = 30_000
/** How often a process without streams looks for what dead processes left. */
const idleTidyMs = 600_000

export function createStreamPlaces(deps: {
  database: Database
  clock: Clock
  log: Log
  process: string
  product: Product
  connections: number
}): StreamPlaces {
  const { database, clock, log, process, product, connections } = deps
  const ending = new Set<Promise<unknown>>()
  let renewedAtMs = Number.NEGATIVE_INFINITY
  let tidiedAtMs = Number.NEGATIVE_INFINITY
  let held = 0

  const renew = async () => {
    await database.query(
      `insert into stream_process (id, until) values ($1, clock_timestamp() + $2 * interval '1 millisecond')
       on conflict (id) do update set until = excluded.until`,
      [process, leaseMs],
    )
    renewedAtMs = clock.monotonicMs()
  }
  // A process that was paused for long may have lost its row; its own row comes first, then what hangs on it.
  const renewIfOld = async () => {
    if (clock.monotonicMs() - renewedAtMs > leaseMs / 2) await renew()
  }
  const releasePlace = (wallet: Address) => {
    const work = database
      .query(
        `update stream_place set streams = streams - 1 where product = $1 and wallet = $2 and process = $3 and streams > 0`,
        [product, wallet, process],
      )
      // Counted too high until the process ends: the subscriber opens one stream less, and nobody one more.
      .catch((error: unknown) => log.warn({ error: String(error) }, 'the end of a stream was not written down'))
      .finally(() => {
        ending.delete(work)
        // The empty row goes with the next round.
        tidiedAtMs = Number.NEGATIVE_INFINITY
      })
    ending.add(work)
  }
  return {
    requireFree: async (wallet) => {
      const { rows } = await database.query<{ taken: number }>({
        name: 'stream_place_count',
        text: `select coalesce(sum(o.streams), 0)::integer as taken from stream_place o
          left join stream_process p on p.id = o.process
          where o.product = $1 and o.wallet = $2 and (o.process = $3 or p.until > clock_timestamp())`,
        values: [product, wallet, process],
      })
      if ((rows[0]?.taken ?? 0) >= connections)
        throw new Problem('rate_limited', {
          detail: `At most ${connections} streams per subscription.`,
          retryAfterSeconds: 30,
        })
    },
    take: async (wallet) => {
      await renewIfOld()
      const { rows } = await database.query<{ free: boolean }>({
        name: 'stream_place_take',
        text: 'select stream_place_take($1, $2, $3, $4) as free',
        values: [process, product, wallet, connections],
      })
      if (rows[0]?.free !== true) return undefined
      held += 1
      let given = false
      return () => {
        if (given) return
        given = true
        held -= 1
        releasePlace(wallet)
      }
    },
    renew: async () => {
      const nowMs = clock.monotonicMs()
      if (held === 0 && nowMs - tidiedAtMs < idleTidyMs) return
      await renew()
      tidiedAtMs = nowMs
      await database.query(
        `with gone as (delete from stream_process where until < clock_timestamp() - interval '1 hour' returning id)
         delete from stream_place o where o.process in (select id from gone) or (o.process = $1 and o.streams = 0)`,
        [process],
      )
    },
    stop: async () => {
      await Promise.all(ending)
      await database
        .query('with gone as (delete from stream_process where id = $1) delete from stream_place where process = $1', [
          process,
        ])
        .catch(() => {})
    },
  }
}
