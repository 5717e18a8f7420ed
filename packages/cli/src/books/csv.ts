import type { ExportedTransaction } from '@assay/node'
import { amountOf } from './beancount.ts'

export const csvHead = 'time,posting,reference,kind,payment,account,account_kind,unit,debit,credit,memo'

/** Quoted where it has to be; a text that a spreadsheet would run as a formula is marked as text. */
export function cell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** One line per entry. */
export function csvLines(transaction: ExportedTransaction): string {
  const { id, reference, kind, paymentId, memo, createdAt, lines } = transaction
  return lines
    .map(({ account, kind: of, unit, amount }) =>
      [
        createdAt.toISOString(),
        id.toString(),
        cell(reference),
        cell(kind),
        paymentId ?? '',
        account,
        of,
        unit,
        amount > 0n ? amountOf(amount, unit) : '',
        amount < 0n ? amountOf(-amount, unit) : '',
        cell(memo),
      ].join(','),
    )
    .join('\n')
}
