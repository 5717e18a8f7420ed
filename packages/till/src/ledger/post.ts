import type { Sql } from '../store/database.ts'
import { sqlStateOf } from '../store/errors.ts'
import type { Account } from './accounts.ts'
import { InsufficientBalance, LedgerConflict, LedgerRefused } from './errors.ts'
import { assertPostable, type LedgerTransaction } from './transaction.ts'

export type PostOutcome = {
  reference: string
  /** `already`: posted before with the same lines. */
  status: 'posted' | 'already'
  transactionId: bigint
}

type Row = { place: number; transaction_id: bigint | null; is_new: boolean }

/**
 * Posts all transactions or none, in one statement, however many there are. Outcomes come in the order given.
 * Call it inside the transaction of the effect that is paid for; alone, it is its own transaction.
 */
export async function post(sql: Sql, transactions: readonly LedgerTransaction[]): Promise<PostOutcome[]> {
  if (transactions.length === 0) return []
  const { rows } = await sql
    .query<Row>({ name: 'ledger_post', text: postSql, values: postValues(transactions) })
    .catch((error: unknown) => {
      throw explain(error)
    })
  return rows.map((row, index) => {
    const { reference } = transactions[index] as LedgerTransaction
    if (row.transaction_id === null) throw new LedgerConflict(`${reference} is being posted by another transaction`)
    return { reference, status: row.is_new ? 'posted' : 'already', transactionId: row.transaction_id }
  })
}

/** For use inside a larger statement: `select * from ledger_post($1, …, $13)` with the values of `postValues`. */
export const postSql = 'select * from ledger_post($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)'

/** For statements that move no money at our wallets, and so name no transfers: the first eleven parameters. */
export const postValuesWithoutTransfers = (transactions: readonly LedgerTransaction[]): unknown[] =>
  postValues(transactions).slice(0, 11)

export function postValues(transactions: readonly LedgerTransaction[]): unknown[] {
  for (const transaction of transactions) assertPostable(transaction)
  const places = new Map<string, number>()
  const named: Account[] = []
  const lineOwners: number[] = []
  const lineAccounts: number[] = []
  const lineAmounts: bigint[] = []
  transactions.forEach((transaction, index) => {
    for (const { account, amount } of transaction.lines) {
      let place = places.get(account.name)
      if (place === undefined) {
        named.push(account)
        place = named.length
        places.set(account.name, place)
      }
      lineOwners.push(index + 1)
      lineAccounts.push(place)
      lineAmounts.push(amount)
    }
  })
  return [
    named.map((account) => account.name),
    named.map((account) => account.kind),
    named.map((account) => account.unit),
    named.map((account) => account.guarded),
    transactions.map((transaction) => transaction.reference),
    transactions.map((transaction) => transaction.kind),
    transactions.map((transaction) => transaction.paymentId ?? null),
    transactions.map((transaction) => transaction.memo ?? ''),
    lineOwners,
    lineAccounts,
    lineAmounts,
    transactions.map((transaction) => transaction.transfer?.id ?? null),
    transactions.map((transaction) => transaction.transfer?.turn ?? null),
  ]
}

function explain(error: unknown): unknown {
  const state = sqlStateOf(error)
  const { constraint, message } = error as { constraint?: string; message: string }
  if (state === 'LG001') return new LedgerConflict(message, { cause: error })
  if (constraint === 'ledger_balance_not_negative' || constraint === 'ledger_balance_held')
    return new InsufficientBalance({ cause: error })
  // check_violation of any other rule, and a balance beyond what a bigint holds.
  if (state === '23514' || state === '23503' || state === '22003') return new LedgerRefused(message, { cause: error })
  return error
}
