import type { Address } from '@assay/protocol/address'
import type { Tx } from '@assay/till/store/database'

type Row = { id: string; points: bigint }

/**
 * Ends passes that were bought with points which have to go back, the newest first, until their unused calls are worth
 * what is missing. Returns how many points they were worth: otherwise one could redeem, ask for a refund and keep both.
 */
export async function voidPasses(tx: Tx, wallet: Address, missing: bigint): Promise<bigint> {
  const { rows } = await tx.query<Row>(
    `select p.id, (p.calls - p.used) * (r.points / p.calls) as points from pass p join redemption r on r.pass_id = p.id
     where p.wallet = $1 and p.used < p.calls and p.expires_at > now() order by p.made_at desc, p.id for update of p`,
    [wallet],
  )
  let regained = 0n
  const ended: string[] = []
  for (const row of rows) {
    if (regained >= missing) break
    regained += row.points
    ended.push(row.id)
  }
  if (ended.length > 0) await tx.query(`update pass set expires_at = now() where id = any($1::text[])`, [ended])
  return regained
}
