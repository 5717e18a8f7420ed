import type { LedgerTransaction } from './transaction.ts'

/** What is posted about the same call becomes one posting: half the rows for the books to keep and to seal. */
export function joinPostings(
  sales: readonly LedgerTransaction[],
  others: readonly LedgerTransaction[],
): readonly LedgerTransaction[] {
  if (sales.length === 0) return others
  const beside = new Map<string, LedgerTransaction[]>()
  for (const other of others) {
    const known = beside.get(other.paymentId ?? '')
    if (known) known.push(other)
    else beside.set(other.paymentId ?? '', [other])
  }
  const joined = sales.map((sale) => {
    const rest = beside.get(sale.paymentId ?? '') ?? []
    beside.delete(sale.paymentId ?? '')
    return { ...sale, lines: [...sale.lines, ...rest.flatMap(({ lines }) => lines)] }
  })
  return [...joined, ...[...beside.values()].flat()]
}
