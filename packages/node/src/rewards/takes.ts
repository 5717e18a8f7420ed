import type { Micro } from '../kernel/money.ts'
import type { Sale } from '../payments/index.ts'
import type { Tx } from '../store/database.ts'

/**
 * What the node itself keeps of each sale: the price where all of it is the operator's, else what the effect of the sale
 * posted as revenue. So a citation counts with its toll, an option with its fee, a top-up or collateral with nothing.
 */
export async function takesOf(tx: Tx, sales: readonly Sale[]): Promise<Map<string, Micro>> {
  const takes = new Map<string, Micro>()
  for (const { paymentId, payee, amountMicro } of sales) if (payee === 'pay_to') takes.set(paymentId, amountMicro)
  const shared = sales.filter(({ payee }) => payee === 'custody')
  if (shared.length === 0) return takes
  const { rows } = await tx.query<{ payment_id: string; micro: bigint }>(
    `select t.payment_id, -sum(e.amount_micro)::bigint as micro from ledger_transaction t
     join ledger_entry e on e.transaction_id = t.id join ledger_account a on a.id = e.account_id
     where t.payment_id = any($1::text[]) and a.kind = 'income' and a.unit like '%/usdc'
     group by t.payment_id having sum(e.amount_micro) < 0`,
    [shared.map(({ paymentId }) => paymentId)],
  )
  for (const row of rows) takes.set(row.payment_id, row.micro)
  return takes
}
