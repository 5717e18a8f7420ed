import type { Database, Sql } from '../store/database.ts'

/** Accounts of one call: all of them are compared in turn, however many there are. */
const accountsMax = 300

/**
 * Due when a round is in progress, something was posted, or the last round is long ago: a row may have been altered
 * directly.
 */
export const balancesDueSql = `exists (select from ledger_unsealed) or exists (select from balance_check
  where after_account > 0 or round_ended_at is null or round_ended_at < clock_timestamp() - interval '10 minutes')`

/** Compares the next kept balances with what their entries come to. A round is over when the last account was compared. */
export async function checkBalances(database: Database, nowMs: number): Promise<void> {
  await database.transaction(async (tx) => {
    const { rows } = await tx.query<{ after: bigint }>(
      'select after_account as after from balance_check for update skip locked',
    )
    if (!rows[0]) return
    const { rows: compared } = await tx.query<{ last: bigint | null; accounts: number; found: number }>(
      `select max(b.account_id) as last, count(*)::integer as accounts,
         (count(*) filter (where -b.owed_micro <> ledger_sum(b.account_id)))::integer as found
       from (select account_id, owed_micro from ledger_balance where account_id > $1 order by account_id limit $2) b`,
      [rows[0].after, accountsMax],
    )
    const { last = null, accounts = 0, found = 0 } = compared[0] ?? {}
    if (accounts === accountsMax)
      await tx.query('update balance_check set after_account = $1, found = found + $2', [last, found])
    else
      await tx.query(
        'update balance_check set after_account = 0, last_found = found + $1, found = 0, round_ended_at = $2',
        [found, new Date(nowMs)],
      )
  })
}

/** Kept balances that differ from their entries, as the last round and this one found: always 0, or the books are broken. */
export async function foundDifferences(sql: Sql): Promise<number> {
  const { rows } = await sql.query<{ found: number }>('select greatest(found, last_found) as found from balance_check')
  return rows[0]?.found ?? 0
}
