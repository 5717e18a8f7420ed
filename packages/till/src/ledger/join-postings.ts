import type { LedgerLine, LedgerTransaction } from './transaction.ts'

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
    return rest.length === 0 ? sale : { ...sale, lines: mergeLines([sale, ...rest].flatMap(({ lines }) => lines)) }
  })
  return [...joined, ...[...beside.values()].flat()]
}

/** Adds postings to those that are still to be made, joined with what these say about the same call. */
export function addPostings(unposted: LedgerTransaction[], others: readonly LedgerTransaction[]): void {
  unposted.push(...joinPostings(unposted.splice(0), others))
}

/** One line an account: a posting names each account once. */
export function mergeLines(lines: readonly LedgerLine[]): LedgerLine[] {
  const merged = new Map<string, LedgerLine>()
  for (const { account, amount } of lines) {
    const known = merged.get(account.name)
    merged.set(account.name, { account, amount: (known?.amount ?? 0n) + amount })
  }
  return [...merged.values()].filter(({ amount }) => amount !== 0n)
}
