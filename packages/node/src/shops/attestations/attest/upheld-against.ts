import type { Address } from '@assay/protocol/address'
import type { Tx } from '@assay/till/store/database'

/**
 * Whether a citation was checked against the chain, found to be wash-traded, and the wallet had a part in it: it signed,
 * paid or was paid, or has the same owner as one who did.
 */
export async function isUpheldAgainst(tx: Tx, attestationId: string, wallet: Address): Promise<boolean> {
  const { rowCount } = await tx.query(
    `select from attestation t where t.id = $1 and t.checked_at is not null and cardinality(t.wash) > 0 and (
       $2 in (t.agent, t.payer, t.creator)
       or exists (select from citing_agent own join citing_agent other on other.cluster = own.cluster
         where own.agent = $2 and other.agent in (t.agent, t.payer, t.creator)))`,
    [attestationId, wallet],
  )
  return rowCount > 0
}
