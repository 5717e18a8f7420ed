import type { Sql } from '../store/database.ts'
import type { Account, AccountKind } from './accounts.ts'
import { LedgerRefused } from './errors.ts'

/** What an account holds: debit positive. What is owed on a liability is the negative of it. */
export async function balanceOf(sql: Sql, account: Pick<Account, 'name'>): Promise<bigint> {
  const { rows } = await sql.query<{ balance: string | null }>({
    name: 'ledger_balance_of',
    text: `select case when a.guarded
        then (select -b.owed_micro::numeric from ledger_balance b where b.account_id = a.id)
        else ledger_sum(a.id) end as balance
      from ledger_account a where a.name = $1`,
    values: [account.name],
  })
  return BigInt(rows[0]?.balance ?? 0)
}

/** What is owed to the holder of a liability account and not set aside for a call under way. */
export async function owedTo(sql: Sql, account: Pick<Account, 'name'>): Promise<bigint> {
  const { rows } = await sql.query<{ owed: string | null }>({
    name: 'ledger_owed_to',
    text: `select case when a.guarded
        then (select b.owed_micro::numeric - b.held_micro from ledger_balance b where b.account_id = a.id)
        else -ledger_sum(a.id) end as owed
      from ledger_account a where a.name = $1`,
    values: [account.name],
  })
  return BigInt(rows[0]?.owed ?? 0)
}

/** What is set aside of a balance for calls under way: still owed to its holder, and nobody else can have it. */
export async function heldOf(sql: Sql, account: Pick<Account, 'name'>): Promise<bigint> {
  const { rows } = await sql.query<{ held_micro: bigint }>({
    name: 'ledger_held_of',
    text: `select b.held_micro from ledger_balance b
      where b.account_id = (select a.id from ledger_account a where a.name = $1)`,
    values: [account.name],
  })
  return rows[0]?.held_micro ?? 0n
}

export type TrialBalanceRow = { name: string; kind: AccountKind; unit: string; balanceMicro: bigint }

export type TrialBalance = { rows: TrialBalanceRow[]; sumByUnit: Record<string, bigint> }

/**
 * Balance of every account, summed from the entries and never from the cache. At a past time it is exact for the
 * postings made until then; one that was still uncommitted at that moment counts with the time it was made.
 */
export async function trialBalance(sql: Sql, at?: Date): Promise<TrialBalance> {
  if (at) await refuseArchived(sql, at)
  const { rows } = await sql.query<{ name: string; kind: AccountKind; unit: string; balance: string }>(
    `select a.name, a.kind, a.unit, sum(e.amount_micro) as balance
     from (select account_id, amount_micro from ledger_entry e
       ${at ? 'join ledger_transaction t on t.id = e.transaction_id where t.created_at <= $1' : ''}
       union all select account_id, amount_micro from ledger_archived) e
     join ledger_account a on a.id = e.account_id
     group by a.id, a.name, a.kind, a.unit order by a.name`,
    at ? [at] : [],
  )
  const list = rows.map(({ name, kind, unit, balance }) => ({ name, kind, unit, balanceMicro: BigInt(balance) }))
  const sumByUnit: Record<string, bigint> = {}
  for (const { unit, balanceMicro } of list) sumByUnit[unit] = (sumByUnit[unit] ?? 0n) + balanceMicro
  return { rows: list, sumByUnit }
}

/** Of postings that were archived to files, the database keeps only the sums: it cannot answer for a time among them. */
export async function refuseArchived(sql: Sql, at: Date): Promise<void> {
  const { rows } = await sql.query<{ until: string }>(
    `select until_day::text as until from archived_partition
     where table_name = 'ledger_entry' and until_day > ($1::timestamptz at time zone 'utc') order by until_day desc limit 1`,
    [at],
  )
  if (rows[0]) throw new LedgerRefused(`postings before ${rows[0].until} are archived`)
}

export type LedgerEntryView = {
  transactionId: bigint
  line: number
  reference: string
  kind: string
  paymentId: string | null
  memo: string
  amountMicro: bigint
  createdAt: Date
}

/** Newest first; pass the last row's transaction id and line to get the page after it. */
export async function entriesOf(
  sql: Sql,
  account: Pick<Account, 'name'>,
  page: { limit: number; before?: { transactionId: bigint; line: number } },
): Promise<LedgerEntryView[]> {
  const { rows } = await sql.query<LedgerEntryView>(
    `select t.id as "transactionId", e.line, t.reference, t.kind, t.payment_id as "paymentId", t.memo,
        e.amount_micro as "amountMicro", t.created_at as "createdAt"
     from ledger_entry e join ledger_transaction t on t.id = e.transaction_id
     where e.account_id = (select id from ledger_account where name = $1)
       and ($2::bigint is null or (e.transaction_id, e.line) < ($2, $3::smallint))
     order by e.transaction_id desc, e.line desc limit $4`,
    [account.name, page.before?.transactionId ?? null, page.before?.line ?? null, page.limit],
  )
  return rows
}

export type OpenClearing = { name: string; unit: string; balanceMicro: bigint; paymentId: string | null; since: Date }

/**
 * What clearing accounts still hold, per payment, oldest first: their age is the first sign that something is stuck.
 * Postings without a payment are taken together.
 */
export async function openClearing(sql: Sql, limit = 100): Promise<OpenClearing[]> {
  const { rows } = await sql.query<Omit<OpenClearing, 'balanceMicro'> & { balance: string }>(
    `select a.name, a.unit, t.payment_id as "paymentId", sum(t.amount_micro) as balance, min(t.created_at) as since
     from ledger_account a
     join lateral (
       select e.amount_micro, t.payment_id, t.created_at from ledger_entry e
         join ledger_transaction t on t.id = e.transaction_id where e.account_id = a.id
       union all select f.amount_micro, nullif(f.payment_id, ''), f.since from ledger_archived f where f.account_id = a.id) t on true
     where a.kind = 'clearing'
     group by a.name, a.unit, t.payment_id
     having sum(t.amount_micro) <> 0
     order by since limit $1`,
    [limit],
  )
  return rows.map(({ balance, ...rest }) => ({ ...rest, balanceMicro: BigInt(balance) }))
}

/** Guarded accounts whose kept balance differs from the sum of their entries: always empty, or the books are broken. */
export async function balanceDifferences(sql: Sql): Promise<{ name: string; kept: bigint; fromEntries: bigint }[]> {
  const { rows } = await sql.query<{ name: string; kept: string; fromEntries: string }>(
    `select a.name, coalesce(b.owed_micro, 0)::numeric as kept, -coalesce(f.total, 0) as "fromEntries"
     from ledger_account a
     left join ledger_balance b on b.account_id = a.id
     left join (select account_id, sum(amount_micro) as total from (
       select account_id, amount_micro from ledger_entry
       union all select account_id, amount_micro from ledger_archived) e group by account_id) f
       on f.account_id = a.id
     where a.guarded and coalesce(b.owed_micro, 0) <> -coalesce(f.total, 0)`,
  )
  return rows.map((row) => ({ name: row.name, kept: BigInt(row.kept), fromEntries: BigInt(row.fromEntries) }))
}
