import type { Micro } from '@assay/protocol/money'
import type { Sale } from '@assay/till'
import type { LedgerLine, LedgerTransaction } from '@assay/till/ledger'
import type { Tx } from '@assay/till/store/database'

/**
 * What the node itself keeps of each sale: the price where all of it is the operator's, else what the effect of the sale
 * posts as revenue. So a citation counts with its toll, an option with its fee, a top-up or collateral with nothing.
 */
export async function operatorRevenueOf(
  tx: Tx,
  sales: readonly Sale[],
  unposted: readonly LedgerTransaction[],
): Promise<Map<string, Micro>> {
  const revenues = new Map<string, Micro>()
  for (const { paymentId, payee, amountMicro } of sales) if (payee === 'pay_to') revenues.set(paymentId, amountMicro)
  const shared = sales.filter(({ payee }) => payee === 'custody')
  if (shared.length === 0) return revenues
  const { rows } = await tx.query<{ payment_id: string; micro: bigint }>({
    name: 'rewards_takes',
    text: `select payment_id, -sum(micro)::bigint as micro from ledger_of_payments($1)
      where kind = 'income' and unit like 'eip155:%' and unit not like '%/gas' group by payment_id`,
    values: [shared.map(({ paymentId }) => paymentId)],
  })
  for (const row of rows) revenues.set(row.payment_id, row.micro)
  const ids = new Set(shared.map(({ paymentId }) => paymentId))
  for (const { paymentId = '', lines } of unposted)
    if (ids.has(paymentId)) revenues.set(paymentId, (revenues.get(paymentId) ?? 0n) + incomeOf(lines))
  return revenues
}

const incomeOf = (lines: readonly LedgerLine[]): Micro =>
  lines
    .filter(({ account: { kind, unit } }) => kind === 'income' && unit.startsWith('eip155:') && !unit.endsWith('/gas'))
    .reduce((sum, { amount }) => sum - amount, 0n)
