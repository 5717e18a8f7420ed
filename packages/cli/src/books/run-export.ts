import type { CommandContext } from '../command-context.ts'
import type { Operator } from '../operator/connect.ts'
import { balanceText, dayOf, head, openAccount, transactionText } from './beancount.ts'
import { csvHead, csvLines } from './csv.ts'
import { rangeOf } from './range.ts'

export type ExportOptions = { format: string; from?: string; to?: string }

/** Written as it is read: the books may be larger than memory. */
export async function exportBooks(
  { terminal }: CommandContext,
  { node, database }: Operator,
  options: ExportOptions,
): Promise<void> {
  const { format } = options
  const range = rangeOf(options, new Date(node.systemClock.nowMs()), '1970-01-01')
  const newest = await node.newestPosting(database)
  const from = dayOf(range.from)
  if (format === 'beancount') {
    terminal.out(head(from))
    for await (const account of node.exportAccounts(database, range, newest)) terminal.out(openAccount(account, from))
  } else terminal.out(csvHead)
  for await (const transaction of node.exportTransactions(database, range, newest))
    terminal.out(format === 'csv' ? csvLines(transaction) : transactionText(transaction))
  if (format === 'beancount')
    for await (const account of node.exportAccounts(database, range, newest))
      terminal.out(balanceText(account, dayOf(range.until)))
}
