import type { Sql, Tx } from '../store/database.ts'
import type { AccountKind } from './accounts.ts'
import type { OpenClearing } from './read.ts'

/**
 * Adds transactions to the balances and to the open clearing, in the transaction that seals them. One statement: to find the
 * entries and their accounts is most of the work. A row of an account that was inserted has no one who changed it.
 */
export async function rollUpTransactions(tx: Tx, ids: readonly bigint[]): Promise<void> {
  await tx.query({ name: 'books_roll_up', text: rollUpSql, values: [ids] })
  await tx.query('delete from books_rollup_clearing where balance_micro = 0')
}

const rollUpSql = `with posted as materialized (
    select e.account_id, e.amount_micro, a.unit, a.kind, a.role, coalesce(a.purpose, '') as purpose, t.created_at,
      coalesce(t.payment_id, '') as payment_id
    from unnest($1::bigint[]) i (id)
    cross join lateral (select * from ledger_transaction t where t.id = i.id offset 0) t
    cross join lateral (select * from ledger_entry e where e.transaction_id = i.id offset 0) e
    cross join lateral (select * from ledger_account a where a.id = e.account_id offset 0) a),
  accounts as (
    insert into books_rollup_account (account_id, balance_micro)
    select account_id, sum(amount_micro) from posted group by account_id order by account_id
    on conflict (account_id) do update set balance_micro = books_rollup_account.balance_micro + excluded.balance_micro
    returning account_id, xmax = 0 as is_new),
  groups as (
    insert into books_rollup_group as g (unit, kind, role, purpose, balance_micro, accounts)
    select p.unit, p.kind, p.role, p.purpose, sum(p.amount_micro), count(distinct p.account_id) filter (where o.is_new)
    from posted p join accounts o using (account_id) group by 1, 2, 3, 4
    on conflict (unit, kind, role, purpose) do update set balance_micro = g.balance_micro + excluded.balance_micro,
      accounts = g.accounts + excluded.accounts),
  days as (
    insert into books_rollup_day as d (day, unit, kind, role, purpose, debit_micro, credit_micro)
    select (created_at at time zone 'utc')::date, unit, kind, role, purpose,
      sum(greatest(amount_micro, 0)), sum(greatest(-amount_micro, 0))
    from posted where kind in ('income', 'expense') group by 1, 2, 3, 4, 5
    on conflict (day, unit, kind, role, purpose) do update set
      debit_micro = d.debit_micro + excluded.debit_micro, credit_micro = d.credit_micro + excluded.credit_micro)
  insert into books_rollup_clearing as c (account_id, payment_id, balance_micro, since)
  select account_id, payment_id, sum(amount_micro), min(created_at)
  from posted where kind = 'clearing' group by account_id, payment_id
  -- Most payments are posted and cleared between two seals.
  having sum(amount_micro) <> 0
  on conflict (account_id, payment_id) do update set balance_micro = c.balance_micro + excluded.balance_micro,
    since = least(c.since, excluded.since)`

/** Entries that the rollup does not have yet; one statement sees both at the same moment. */
export const entriesSinceSql = `select e.account_id, e.amount_micro, coalesce(t.payment_id, '') as payment_id, t.created_at
  from ledger_unsealed u
  cross join lateral (select * from ledger_transaction t where t.id = u.transaction_id offset 0) t
  cross join lateral (select * from ledger_entry e where e.transaction_id = u.transaction_id offset 0) e`

export type BooksGroup = {
  group: string
  kind: AccountKind
  unit: string
  balanceMicro: bigint
  /** As of the last seal. */
  accounts: number
}

/** Accounts of one kind of holder, summed: ten thousand credits one by one tell an operator nothing. */
export async function booksByGroup(sql: Sql): Promise<BooksGroup[]> {
  const { rows } = await sql.query<Omit<BooksGroup, 'balanceMicro'> & { balance: string }>(
    `select role as "group", kind, unit, sum(balance) as balance, sum(accounts)::integer as accounts from (
       select role, kind, unit, balance_micro as balance, accounts from books_rollup_group
       union all
       select a.role, a.kind, a.unit, e.amount_micro, 0 from (${entriesSinceSql}) e
         cross join lateral (select * from ledger_account a where a.id = e.account_id offset 0) a
     ) g group by 1, 2, 3 order by 1, 3, 2`,
  )
  return rows.map(({ balance, ...row }) => ({ ...row, balanceMicro: BigInt(balance) }))
}

/** What clearing accounts still hold, per payment, oldest first: `openClearing` without reading all of the past. */
export async function openClearingSinceRollup(sql: Sql, limit: number): Promise<OpenClearing[]> {
  const { rows } = await sql.query<Omit<OpenClearing, 'balanceMicro'> & { balance: string }>(
    `select a.name, a.unit, nullif(x.payment_id, '') as "paymentId", sum(x.balance) as balance, min(x.since) as since
     from (
       select account_id, payment_id, balance_micro as balance, since from books_rollup_clearing
       union all
       select account_id, payment_id, amount_micro, created_at from (${entriesSinceSql}) e
     ) x cross join lateral (select * from ledger_account a where a.id = x.account_id offset 0) a
     where a.kind = 'clearing'
     group by a.name, a.unit, x.payment_id
     having sum(x.balance) <> 0
     order by since limit $1`,
    [limit],
  )
  return rows.map(({ balance, ...rest }) => ({ ...rest, balanceMicro: BigInt(balance) }))
}

/**
 * Balances of the unit `$1`, summed over the holders of each role and purpose, for use inside a larger statement. Reads the
 * rollup and what came since.
 */
export const groupBalancesSql = `select kind, role, purpose, sum(balance) as balance from (
    select kind, role, purpose, balance_micro as balance from books_rollup_group where unit = $1
    union all
    select a.kind, a.role, coalesce(a.purpose, ''), e.amount_micro from (${entriesSinceSql}) e
      cross join lateral (select * from ledger_account a where a.id = e.account_id offset 0) a where a.unit = $1
  ) g group by kind, role, purpose having sum(balance) <> 0`

export type DayTurnover = {
  day: string
  unit: string
  kind: 'income' | 'expense'
  role: string
  purpose: string
  debitMicro: bigint
  creditMicro: bigint
}

/** What was earned and spent per day (UTC), both days included. Reads the rollup and what came since. */
export async function turnoverByDay(sql: Sql, from: string, until: string): Promise<DayTurnover[]> {
  const { rows } = await sql.query<Omit<DayTurnover, 'debitMicro' | 'creditMicro'> & { debit: string; credit: string }>(
    `select to_char(day, 'YYYY-MM-DD') as day, unit, kind, role, purpose, sum(debit) as debit, sum(credit) as credit from (
       select day, unit, kind, role, purpose, debit_micro as debit, credit_micro as credit from books_rollup_day
       where day between $1::date and $2::date
       union all
       select (e.created_at at time zone 'utc')::date, a.unit, a.kind, a.role, coalesce(a.purpose, ''),
         greatest(e.amount_micro, 0), greatest(-e.amount_micro, 0)
       from (${entriesSinceSql}) e
         cross join lateral (select * from ledger_account a where a.id = e.account_id offset 0) a
       where a.kind in ('income', 'expense') and (e.created_at at time zone 'utc')::date between $1::date and $2::date
     ) d group by day, unit, kind, role, purpose order by day, unit, kind, role, purpose`,
    [from, until],
  )
  return rows.map(({ debit, credit, ...row }) => ({ ...row, debitMicro: BigInt(debit), creditMicro: BigInt(credit) }))
}
