import type { Micro } from '@assay/protocol/money'
import type { Sale } from '@assay/till'
import type { Tx } from '@assay/till/store/database'

/**
 * What the node itself keeps of each sale: the price where all of it is the operator's, else what the effect of the sale
 * posted as revenue. So a citation counts with its toll, an option with its fee, a top-up or collateral with nothing.
 */
export async function operatorRevenueOf(tx: Tx, sales: readonly Sale[]): Promise<Map<string, Micro>> {
  const revenues = new Map<string, Micro>()
  for (const { paymentId, payee, amountMicro } of sales) if (payee === 'pay_to') revenues.set(paymentId, amountMicro)
  const shared = sales.filter(({ payee }) => payee === 'custody')
  if (shared.length === 0) return revenues
  const { rows } = await tx.query<{ payment_id: string; micro: bigint }>({
    name: 'rewards_takes',
    text: `select payment_id, -sum(micro)::bigint as micro from ledger_of_payments($1)
      where kind = 'income' and unit like 'eip155:%' and unit not like '%/gas' group by payment_id having sum(micro) < 0`,
    values: [shared.map(({ paymentId }) => paymentId)],
  })
  for (const row of rows) revenues.set(row.payment_id, row.micro)
  return revenues
}
