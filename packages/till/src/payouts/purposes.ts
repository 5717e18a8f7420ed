import type { Micro } from '@assay/protocol/money'
import type { Sql } from '../store/database.ts'

/** Shares that are paid out by themselves: `payable:<purpose>:<wallet>`. A row of `ledger_purpose` says whose money pays them. */
export type PayoutPurpose = {
  purpose: string
  minimumMicro?: Micro
  /** Routes whose payments come back to the payer as such a share: what returns does not count against the daily limit. */
  paidInBy?: readonly string[]
}

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
 * When payouts are opened: every purpose is one that the books know as paid out, and where the minimum was lowered, shares
 * that were below the earlier one are checked again.
 */
export async function prepareDue(
  sql: Sql,
  purposes: readonly PayoutPurpose[],
  { minimumMicro }: { minimumMicro: Micro },
): Promise<void> {
  const names = purposes.map(({ purpose }) => purpose)
  const { rows } = await sql.query<{ purpose: string }>(
    `select n.purpose from unnest($1::text[]) n (purpose)
     where not exists (select from ledger_purpose p where p.purpose = n.purpose and p.paid_out)`,
    [names],
  )
  if (rows.length > 0)
    throw new Error(`ledger_purpose does not list as paid out: ${rows.map(({ purpose }) => purpose).join(', ')}`)
  await sql.query(
    `with given as (select * from unnest($1::text[], $2::bigint[]) n (purpose, micro)),
     lowered as (select n.purpose from given n join ledger_purpose p using (purpose)
       where n.micro < coalesce(p.checked_minimum_micro, 9223372036854775807)),
     noted as (update ledger_purpose p set checked_minimum_micro = n.micro from given n
       where p.purpose = n.purpose and p.checked_minimum_micro is distinct from n.micro)
     insert into payout_due (account_id)
     select a.id from lowered l join ledger_account a on a.role = 'payable' and a.purpose = l.purpose
     join ledger_balance b on b.account_id = a.id where b.owed_micro > 0 on conflict do nothing`,
    [names, purposes.map((one) => one.minimumMicro ?? minimumMicro)],
  )
}
