import type { SaleShares } from '../../ports.ts'

export const shares: SaleShares = {
  creatorsSql: (id) => `(select array_agg(distinct a.wallet) from creator_accrual a where a.payment_id = ${id})`,
  washTradedSql: (id) => `(select cardinality(t.wash) > 0 from attestation t where t.payment_id = ${id})`,
}
