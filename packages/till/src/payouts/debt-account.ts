import type { Address } from '@assay/protocol/address'
import { type Account, accounts } from '../ledger/index.ts'
import type { Sql } from '../store/database.ts'
import { withdrawalPurpose } from './purposes.ts'

/** Where a payee's debt is posted when it got more than it was owed. What the operator took is the operator's. */
export async function debtAccount(sql: Sql, network: string, payee: Address, purpose: string): Promise<Account> {
  if (purpose === withdrawalPurpose) return accounts.operator(network, 'usdc')
  const { rows } = await sql.query<{ debt: string | null }>({
    name: 'payouts_debt_purpose',
    text: 'select debt_purpose as debt from ledger_purpose where purpose = $1',
    values: [purpose],
  })
  return accounts.receivable(network, payee, rows[0]?.debt ?? purpose)
}

/** The account that owns money whose payout did not happen. */
export function owedAccount(network: string, payee: Address, purpose: string): Account {
  return purpose === withdrawalPurpose ? accounts.operator(network, 'usdc') : accounts.payable(network, payee, purpose)
}
