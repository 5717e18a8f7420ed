import type { Address } from '@assay/protocol/address'
import type { Micro } from '@assay/protocol/money'
import { creditRefundPurposes, recentMs } from '../payouts/index.ts'
import type { Sql } from '../store/database.ts'

/**
 * What a wallet paid in recently, by transfers in final blocks, and has neither used nor got back since. To return it
 * is no risk, so it does not count against the daily limit of refunds: otherwise one wallet could use up that limit for
 * all others by paying in and asking back the same money. To use up a day of the limit takes as much money, left here
 * for `recentMs`.
 */
export async function recentlyPaidIn(sql: Sql, network: string, wallet: Address, nowMs: number): Promise<Micro> {
  const { rows } = await sql.query<{ came: Micro; went: Micro }>(
    `select
       (select coalesce(sum(amount_micro), 0) from payment where network = $1 and payer = $2 and ended_at > $3 and final
          and (state = 'credited' or (state = 'served' and adds_credit)))::bigint
       + (select coalesce(sum(amount_micro), 0) from transfer where network = $1 and sender = $2 and payment_key is not null
          and final and posted_as = 'credit' and posted_at > $3)::bigint as came,
       (select coalesce(sum(amount), 0) from entitled_call where port = 'credit' and account = $2 and subject = $1
          and state = 'captured' and ended_at > $3)::bigint
       + (select coalesce(sum(amount_micro), 0) from payout where network = $1 and payee = $2 and purpose = any($4::text[])
          and created_at > $3 and state <> 'returned')::bigint as went`,
    [network, wallet, new Date(nowMs - recentMs), creditRefundPurposes],
  )
  const { came = 0n, went = 0n } = rows[0] ?? {}
  return came > went ? came - went : 0n
}
