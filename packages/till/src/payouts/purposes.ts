import type { Micro } from '@assay/protocol/money'
import type { Sql } from '../store/database.ts'

/** Shares that are paid out by themselves: `payable:<purpose>:<wallet>`. A row of `ledger_purpose` says whose money pays them. */
export type PayoutPurpose = { purpose: string; minimumMicro?: Micro }

/** The operator's own money, sent to an address of the operator. */
export const withdrawalPurpose = 'withdrawal'

/** Debts whose money arrived at PAY_TO, and is at the custody wallet only if the operator has put it there. */
export async function operatorPurposes(sql: Sql): Promise<ReadonlySet<string>> {
  const { rows } = await sql.query<{ purpose: string }>({
    name: 'payouts_operator_purposes',
    text: `select purpose from ledger_purpose where backed_by = 'operator'`,
  })
  return new Set(rows.map(({ purpose }) => purpose))
}

/**
 * When payouts are opened: every purpose is one that the books know as paid out, and shares that were below an earlier
 * minimum are looked at again.
 */
export async function prepareDue(sql: Sql, purposes: readonly PayoutPurpose[]): Promise<void> {
  const names = purposes.map(({ purpose }) => purpose)
  const { rows } = await sql.query<{ purpose: string }>(
    `select n.purpose from unnest($1::text[]) n (purpose)
     where not exists (select from ledger_purpose p where p.purpose = n.purpose and p.paid_out)`,
    [names],
  )
  if (rows.length > 0)
    throw new Error(`ledger_purpose does not list as paid out: ${rows.map(({ purpose }) => purpose).join(', ')}`)
  await sql.query(
    `insert into payout_due (account_id)
     select a.id from ledger_account a join ledger_balance b on b.account_id = a.id
     where a.role = 'payable' and a.purpose = any($1) and b.owed_micro > 0 on conflict do nothing`,
    [names],
  )
}
