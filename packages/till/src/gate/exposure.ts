import type { Address } from '@assay/protocol/address'
import type { Micro } from '@assay/protocol/money'
import type { PaidRoute } from '../contract/paid-call.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Sql } from '../store/database.ts'
import { admitSale } from '../transitions/decide-exposure.ts'

const refreshMs = 1_000

type Admitted = { payer: Address; amountMicro: Micro; revocable: boolean }

/**
 * Caps the value that was given away for money a reorganisation could still take: what was served irrevocably and is not
 * final, what is being settled for it, and of revocable grants the part that was used by now. Payments whose outcome is
 * unknown have given nothing away. The sum of all processes is read every second; what this process adds in between is
 * counted on top, so one process cannot run past the cap within a second.
 *
 * Half of it is for payers with an earlier final payment, so that fresh wallets cannot use up all of it.
 */
export function createExposure(
  sql: Sql,
  clock: Clock,
  capMicro: Micro,
  routeOf: (routeId: string) => PaidRoute | undefined = () => undefined,
) {
  let knownMicro = 0n
  let addedMicro = 0n
  let readAtMs = Number.NEGATIVE_INFINITY
  let reading: Promise<void> | undefined

  async function refresh(): Promise<void> {
    knownMicro = (await readServed(sql)) + (await readConsumed(sql, clock, routeOf))
    addedMicro = 0n
    readAtMs = clock.monotonicMs()
  }

  async function current(): Promise<Micro> {
    if (clock.monotonicMs() - readAtMs >= refreshMs) {
      reading ??= refresh().finally(() => {
        reading = undefined
      })
      await reading
    }
    return knownMicro + addedMicro
  }

  async function hasRoom(sale: Admitted): Promise<boolean> {
    const exposedMicro = sale.revocable ? 0n : await current()
    const admitted = admitSale(sale, { exposedMicro, capMicro })
    return admitted === 'yes' || (admitted === 'known_payer' && (await hasPaidBefore(sql, sale.payer)))
  }

  return {
    /** True when this may be settled, or given away before its money is final; it is then counted. A revocable grant is counted as it is used. */
    async admit(sale: Admitted): Promise<boolean> {
      if (!(await hasRoom(sale))) return false
      if (!sale.revocable) addedMicro += sale.amountMicro
      return true
    },
    /** The same without counting it, for what may turn out to be final. */
    hasRoom,
    current: (): Micro => knownMicro + addedMicro,
  }
}

export type Exposure = ReturnType<typeof createExposure>

async function readServed(sql: Sql): Promise<Micro> {
  const { rows } = await sql.query<{ micro: bigint }>(
    `select (served_not_final_micro() + (select coalesce(sum(amount_micro), 0) from unfinished_payments()
       where not revocable and state = 'settling'))::bigint as micro`,
  )
  return rows[0]?.micro ?? 0n
}

async function hasPaidBefore(sql: Sql, payer: Address): Promise<boolean> {
  const { rows } = await sql.query<{ known: boolean }>(
    `select exists (select from payment
       where payer = $1 and ended_at is not null and final and state = 'served' and amount_micro > 0) as known`,
    [payer],
  )
  return rows[0]?.known ?? false
}

/** `route`: null for all that adds credit. */
type Grants = { route: string | null; micro: bigint; age_micro_seconds: string }

/** The part of revocable grants that is already used. */
async function readConsumed(sql: Sql, clock: Clock, routeOf: (id: string) => PaidRoute | undefined): Promise<Micro> {
  const { rows } = await sql.query<Grants>(
    `select case when not adds_credit then route_id end as route, sum(amount_micro)::bigint as micro,
       sum(amount_micro * greatest(0, extract(epoch from $1::timestamptz - settled_at)))::numeric(40, 0)::text as age_micro_seconds
     from payment where revocable and not final and phase = 'served' group by 1`,
    [new Date(clock.nowMs())],
  )
  let consumedMicro = 0n
  for (const { route, micro, age_micro_seconds } of rows) {
    const consumption = route === null ? 'credit' : routeOf(route)?.consumption
    if (consumption === 'none') continue
    else if (consumption === 'credit') consumedMicro += await drawnBeforeFinal(sql)
    else if (consumption === undefined) consumedMicro += micro
    else {
      const used = BigInt(age_micro_seconds) / BigInt(consumption.seconds)
      consumedMicro += used < micro ? used : micro
    }
  }
  return consumedMicro
}

/** Credit that was paid in with money that is not final, and is no longer there. */
async function drawnBeforeFinal(sql: Sql): Promise<Micro> {
  const { rows } = await sql.query<{ micro: bigint }>(
    `select coalesce(sum(greatest(0, t.micro - coalesce(b.owed_micro, 0))), 0)::bigint as micro
     from (select network, payer, sum(amount_micro)::bigint as micro from payment
           where not final and phase = 'served' and adds_credit group by network, payer) t
     left join ledger_account a on a.name = 'credit:' || t.payer || '@' || t.network
     left join ledger_balance b on b.account_id = a.id`,
  )
  return rows[0]?.micro ?? 0n
}
