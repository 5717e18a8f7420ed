import type { Sql } from '../store/database.ts'
import type { AccountKind } from './accounts.ts'
import { LedgerRefused } from './errors.ts'
import { type PostOutcome, post } from './post.ts'

type Row = {
  payment_id: string | null
  name: string
  kind: AccountKind
  unit: string
  guarded: boolean
  amount_micro: bigint
}

export const reversalReference = (reference: string): string => `reverse:${reference}`

/**
 * Undoes a posting by its mirror image; the original stays. Once only: a second call finds the first one's reversal.
 * Throws InsufficientBalance when the money was spent meanwhile: what to do then is for the caller to decide.
 */
export async function reverse(sql: Sql, reference: string, reason: string): Promise<PostOutcome> {
  const { rows } = await sql.query<Row>(
    `select t.payment_id, a.name, a.kind, a.unit, a.guarded, e.amount_micro
     from ledger_transaction t
     join ledger_entry e on e.transaction_id = t.id
     join ledger_account a on a.id = e.account_id
     where t.reference = $1 order by e.line`,
    [reference],
  )
  const paymentId = rows[0]?.payment_id
  if (rows.length === 0) throw new LedgerRefused(`nothing was posted as ${reference}`)
  const [outcome] = await post(sql, [
    {
      reference: reversalReference(reference),
      kind: 'reversal',
      ...(paymentId ? { paymentId } : {}),
      memo: reason.slice(0, 500),
      lines: rows.map(({ name, kind, unit, guarded, amount_micro }) => ({
        account: { name, kind, unit, guarded },
        amount: -amount_micro,
      })),
    },
  ])
  return outcome as PostOutcome
}
