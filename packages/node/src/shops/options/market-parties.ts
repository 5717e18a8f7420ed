import type { Address } from '@assay/protocol/address'
import type { Sql } from '@assay/till/store/database'

/** Everybody whose money depends on the index at this time: what they ask for moves none of it. */
export async function partiesOf(
  sql: Sql,
  { startsAtMs, endsAtMs }: { startsAtMs: number; endsAtMs: number },
): Promise<Address[]> {
  const { rows } = await sql.query<{ wallet: Address }>(
    `select holder as wallet from option_position
       where state in ('open', 'settled', 'voided') and opened_at < $2 and (ended_at is null or ended_at > $1)
     union select o.writer from option_order o join option_series s on s.symbol = o.symbol
       where o.state <> 'revoked' and o.created_at < $2 and (s.state <> 'ended' or s.expires_at > $1)`,
    [new Date(startsAtMs), new Date(endsAtMs)],
  )
  return rows.map(({ wallet }) => wallet)
}
