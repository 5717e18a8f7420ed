import type { Address } from '@assay/protocol/address'
import type { Micro } from '@assay/protocol/money'
import { firstIdAt } from '../kernel/ids.ts'
import type { Sql } from '../store/database.ts'

/** Clocks of two processes differ by less. */
const clockMs = 60_000

export type SettledPayment = {
  id: string
  routeId: string
  resource: string
  network: string
  transaction: string
  amountMicro: Micro
  /** Given back, or on its way back. */
  refundedMicro: Micro
  settledAt: Date
}

/** Final payments of a wallet that bought something: those named, or those of a time. Oldest first. */
export async function settledPayments(
  sql: Sql,
  payer: { address: Address; networks: readonly string[] },
  which: { ids: readonly string[] } | { from: Date; until: Date },
  limit: number,
): Promise<SettledPayment[]> {
  const range = 'ids' in which ? { ids: which.ids, from: null, until: null } : { ids: null, ...which }
  const untilId = range.until === null ? null : firstIdAt('pay', range.until.getTime() + clockMs)
  const { rows } = await sql.query<SettledPayment>(
    `select p.id, p.route_id as "routeId", p.resource, p.network, '0x' || encode(p.transaction, 'hex') as transaction, p.amount_micro as "amountMicro",
       coalesce((select r.amount_micro from refund r where r.payment_id = p.id and r.state = 'paying'), 0)::bigint as "refundedMicro",
       p.settled_at as "settledAt"
     from payment p
     where p.payer = $1 and p.network = any($2::text[]) and p.final and p.state in ('served', 'refunded')
       and p.transaction is not null and p.settled_at is not null
       and ($3::text[] is null or p.id = any($3::text[]))
       and ($4::timestamptz is null or (p.settled_at >= $4 and p.settled_at < $5))
       -- A payment is claimed before it is settled, and ends after it: so the partitions and the index by payer bound what is read.
       and ($4::timestamptz is null or (p.ended_at >= $4 and p.id < $7))
     order by p.ended_at, p.id limit $6`,
    [payer.address, payer.networks, range.ids, range.from, range.until, limit, untilId],
  )
  return rows.sort((one, other) => one.settledAt.getTime() - other.settledAt.getTime())
}
