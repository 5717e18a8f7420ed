import type { Micro } from '@assay/protocol/money'
import type { Sql, Tx } from '../store/database.ts'
import type { Account } from './accounts.ts'
import type { LedgerLine } from './transaction.ts'

/** How much of a credit balance arrived at PAY_TO and is not at the custody wallet. Never more than the balance. */
export async function payToPartOf(sql: Sql, account: Pick<Account, 'name'>): Promise<Micro> {
  const { rows } = await sql.query<{ micro: Micro }>({
    name: 'ledger_pay_to_part',
    text: `select b.pay_to_micro as micro from ledger_balance b
      where b.account_id = (select a.id from ledger_account a where a.name = $1)`,
    values: [account.name],
  })
  return rows[0]?.micro ?? 0n
}

/** After the posting of money that arrived at PAY_TO: what its lines gave to this account. */
export function addPayToPart(tx: Tx, account: Pick<Account, 'name'>, lines: readonly LedgerLine[]): Promise<void> {
  const given = lines.filter((line) => line.account.name === account.name)
  return change(
    tx,
    account,
    given.reduce((sum, { amount }) => sum - amount, 0n),
  )
}

/** Before the posting that takes money off the account which arrived at PAY_TO: other draws leave that part for last. */
export function takePayToPart(tx: Tx, account: Pick<Account, 'name'>, micro: Micro): Promise<void> {
  return change(tx, account, -micro)
}

async function change(tx: Tx, { name }: Pick<Account, 'name'>, micro: Micro): Promise<void> {
  if (micro === 0n) return
  await tx.query({ name: 'ledger_change_pay_to_part', text: 'select credit_at_pay_to($1, $2)', values: [name, micro] })
}
