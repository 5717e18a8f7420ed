import type { Address } from '@assay/protocol/address'
import type { Micro } from '@assay/protocol/money'
import type { ChainPort } from '@assay/till/chain'
import type { Sql } from '@assay/till/store/database'

/** What the custody wallet holds at a final block beyond all that is owed or on its way to somebody. */
export async function spareCustody(sql: Sql, chain: ChainPort, custody: Address): Promise<Micro> {
  const network = chain.network.caip2
  const final = await chain.finalizedBlock()
  const balanceMicro = await chain.usdcBalance(custody, final.number)
  const { rows } = await sql.query<{ owed: Micro; leaving: Micro }>(
    `select
       (select coalesce(sum(b.owed_micro), 0)::bigint from ledger_account a join ledger_balance b on b.account_id = a.id
        where a.unit = $1) as owed,
       (select coalesce(sum(amount_micro), 0)::bigint from payout where network = $2
          and state in ('waiting', 'queued', 'signed', 'parked')) as leaving`,
    [`${network}/usdc`, network],
  )
  const spare = balanceMicro - (rows[0]?.owed ?? 0n) - (rows[0]?.leaving ?? 0n)
  return spare > 0n ? spare : 0n
}
