import type { Sql } from '../store/database.ts'
import type { AccountKind } from './accounts.ts'
import { refuseArchived } from './read.ts'

/** Days in UTC: from the start of the first to the end of the last. */
export type BooksRange = { from: Date; until: Date }

export type ExportedTransaction = {
  id: bigint
  reference: string
  kind: string
  paymentId: string | null
  memo: string
  createdAt: Date
  lines: { account: string; kind: AccountKind; unit: string; amount: bigint }[]
}

export type ExportedAccount = {
  name: string
  kind: AccountKind
  unit: string
  /** Before the range, and at its end. */
  opening: bigint
  closing: bigint
}

const pageSize = 1_000

/** The newest posting that an export has: what is posted while it runs is not in it. */
export async function newestPosting(sql: Sql): Promise<bigint> {
  const { rows } = await sql.query<{ id: bigint | null }>('select max(id) as id from ledger_transaction')
  return rows[0]?.id ?? 0n
}

type Row = Omit<ExportedTransaction, 'lines'> & {
  lines: { account: string; kind: AccountKind; unit: string; amount: string }[]
}

/** Every posting of a range in the order of the books, a page at a time. */
export async function* exportTransactions(
  sql: Sql,
  { from, until }: BooksRange,
  newest: bigint,
): AsyncGenerator<ExportedTransaction> {
  await refuseArchived(sql, from)
  let after = 0n
  for (;;) {
    const { rows } = await sql.query<Row>(
      `select t.id, t.reference, t.kind, t.payment_id as "paymentId", t.memo, t.created_at as "createdAt",
         (select json_agg(json_build_object('account', a.name, 'kind', a.kind, 'unit', a.unit, 'amount', e.amount_micro::text) order by e.line)
          from ledger_entry e join ledger_account a on a.id = e.account_id where e.transaction_id = t.id) as lines
       from ledger_transaction t where t.id > $1 and t.id <= $2 and t.created_at >= $3 and t.created_at < $4
       order by t.id limit $5`,
      [after, newest, from, until, pageSize],
    )
    for (const row of rows) yield { ...row, lines: row.lines.map((line) => ({ ...line, amount: BigInt(line.amount) })) }
    const last = rows.at(-1)
    if (last === undefined || rows.length < pageSize) return
    after = last.id
  }
}

/** Every account that has entries up to the end of the range, a page at a time. */
export async function* exportAccounts(
  sql: Sql,
  { from, until }: BooksRange,
  newest: bigint,
): AsyncGenerator<ExportedAccount> {
  let after = 0n
  for (;;) {
    const { rows } = await sql.query<{
      id: bigint
      name: string
      kind: AccountKind
      unit: string
      entries: number
      opening: string
      closing: string
    }>(
      `select a.id, a.name, a.kind, a.unit, s.entries, s.opening, s.closing
       from (select id, name, kind, unit from ledger_account where id > $1 order by id limit $5) a
       cross join lateral (
         select count(*)::integer as entries, coalesce(sum(e.amount_micro) filter (where e.created_at < $3), 0) as opening,
           coalesce(sum(e.amount_micro), 0) as closing
         from (select e.amount_micro, t.created_at from ledger_entry e join ledger_transaction t on t.id = e.transaction_id
             where e.account_id = a.id and e.transaction_id <= $2 and t.created_at < $4
           union all select amount_micro, '-infinity' from ledger_archived where account_id = a.id) e) s
       order by a.id`,
      [after, newest, from, until, pageSize],
    )
    for (const { name, kind, unit, entries, opening, closing } of rows)
      if (entries > 0) yield { name, kind, unit, opening: BigInt(opening), closing: BigInt(closing) }
    const last = rows.at(-1)
    if (last === undefined || rows.length < pageSize) return
    after = last.id
  }
}
