import type { Tx } from '../store/database.ts'
import type { Account } from './accounts.ts'

/**
 * Serializes transactions that read a balance and then decide by it: until this one ends, others that lock the same
 * accounts wait. Plain postings do not wait; the database still keeps what is owed from falling below zero.
 */
export async function lockAccounts(tx: Tx, locked: readonly Pick<Account, 'name'>[]): Promise<void> {
  const names = [...new Set(locked.map(({ name }) => name))].sort()
  if (names.length === 0) return
  await tx.query({
    name: 'ledger_lock_accounts',
    text: `select pg_advisory_xact_lock(key) from (
      select distinct hashtextextended('ledger ' || name, 0) as key from unnest($1::text[]) name order by key) keys`,
    values: [names],
  })
}

/**
 * Until the transaction ends nothing is posted to these accounts and nothing is held on them: for callers that take the
 * whole balance and record the rest as a debt. Only guarded accounts keep a balance that can be locked.
 */
export async function lockBalances(tx: Tx, locked: readonly Pick<Account, 'name'>[]): Promise<void> {
  if (locked.length === 0) return
  await tx.query({
    name: 'ledger_lock_balances',
    text: 'select from credit_lock($1)',
    values: [locked.map(({ name }) => name)],
  })
}
