import type { Micro } from '@assay/protocol/money'
import type { CreatorShares } from '../../ports.ts'
import { accrueShares } from './accrue.ts'
import { findPayees } from './payee.ts'

/** A sale of another shop that creators have a part in: accrued, held back and paid out as their citations are. */
export const shareSale: CreatorShares = async (tx, sale, subject, shares) => {
  const payees = await findPayees(tx, shares)
  return accrueShares(
    tx,
    sale,
    subject,
    payees.map((payee, at) => ({ payee, page: shares[at]?.page, micro: shares[at]?.micro as Micro, held: undefined })),
  )
}
