import type { Address } from '@assay/protocol/address'
import type { Micro } from '@assay/protocol/money'
import type { ChainPort } from '@assay/till/chain'
import { booksHaveBegun, readCustodyFacts, readFinalBalance, spareMicro } from '@assay/till/payouts'
import type { Sql } from '@assay/till/store/database'

/** What the custody wallet holds at a final block beyond all that is owed or on its way to somebody: read now, checked in a transaction. */
export async function unreservedCustody(chain: ChainPort, custody: Address): Promise<(sql: Sql) => Promise<Micro>> {
  const balance = await readFinalBalance(chain, custody)
  return async (sql) => {
    // What the vault itself promises is not in the way of its own limit.
    const facts = await readCustodyFacts(sql, balance, 0n)
    const spare = spareMicro((await booksHaveBegun(sql, balance)) ? facts : { ...facts, postedMicro: balance.micro })
    return spare > 0n ? spare : 0n
  }
}

/** What the vault may still lock: up to its limit, and what buyers hold reserved. Open positions have locked theirs. */
export async function vaultCommitments(sql: Sql): Promise<Micro> {
  const { rows } = await sql.query<{ micro: Micro }>(
    `select greatest(v.limit_micro - p.open, p.held, 0)::bigint as micro from option_vault v cross join (
       select coalesce(sum(vault_micro) filter (where state = 'open'), 0) as open,
         coalesce(sum(vault_micro) filter (where state = 'held'), 0) as held
       from option_position where state in ('held', 'open')) p`,
  )
  return rows[0]?.micro ?? 0n
}
