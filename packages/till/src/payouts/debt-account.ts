import type { Address } from '@assay/protocol/address'
import { type Account, accounts } from '../ledger/index.ts'
import type { Sql } from '../store/database.ts'

/** Where a payee's debt is booked when it got more than it was owed. */
export async function debtAccount(sql: Sql, network: string, payee: Address, purpose: string): Promise<Account> {
  const { rows } = await sql.query<{ debt: string | null }>({
    name: 'payouts_debt_purpose',
    text: 'select debt_purpose as debt from ledger_purpose where purpose = $1',
    values: [purpose],
  })
  return accounts.receivable(network, payee, rows[0]?.debt ?? purpose)
}
