import type { SaleShares } from '../../ports.ts'

/** Ids of payments are compared byte by byte, these columns are not: without their own collation no index of theirs is used. */
export const shares: SaleShares = {
  creatorsSql: (id) =>
    `(select array_agg(distinct a.wallet) from creator_accrual a where a.payment_id = ${id} collate "default")`,
  washedSql: (id) => `(select cardinality(t.wash) > 0 from attestation t where t.payment_id = ${id} collate "default")`,
}
