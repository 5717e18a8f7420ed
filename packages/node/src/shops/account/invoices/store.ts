import type { Address } from '@assay/protocol/address'
import type { SettledPayment } from '@assay/till/internal'
import type { Database, Sql } from '@assay/till/store/database'
import type { Invoice } from './make-invoice.ts'

export type StoredInvoice = { id: string; payer: Address; document: Invoice; jws: string }

export type IssueOutcome = { status: 'issued'; invoice: StoredInvoice } | { status: 'invoiced_before'; ids: string[] }

/** Numbers follow each other: one is taken at a time, and only with what is issued under it. */
export async function issueInvoice(
  database: Database,
  given: { id: string; payer: Address; payments: readonly SettledPayment[]; issuedAt: Date },
  make: (number: bigint) => { document: Invoice; jws: string },
): Promise<IssueOutcome> {
  const ids = given.payments.map(({ id }) => id)
  return database.transaction(async (tx): Promise<IssueOutcome> => {
    await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', ['invoice number'])
    const { rows: before } = await tx.query<{ id: string }>(
      `select distinct i.id from invoice_payment p join invoice i on i.number = p.invoice_number where p.payment_id = any($1::text[])`,
      [ids],
    )
    if (before.length > 0) return { status: 'invoiced_before', ids: before.map(({ id }) => id) }
    const { rows } = await tx.query<{ number: bigint }>('select coalesce(max(number), 0) + 1 as number from invoice')
    const number = BigInt(rows[0]?.number ?? 1n)
    const made = make(number)
    await tx.query(
      'insert into invoice (number, id, payer, document, jws, issued_at) values ($1, $2, $3, $4, $5, $6)',
      [number, given.id, given.payer, JSON.stringify(made.document), made.jws, given.issuedAt],
    )
    await tx.query(
      'insert into invoice_payment (payment_id, invoice_number) select id, $2 from unnest($1::text[]) n (id)',
      [ids, number],
    )
    return { status: 'issued', invoice: { id: given.id, payer: given.payer, ...made } }
  })
}

export async function findInvoice(sql: Sql, id: string): Promise<StoredInvoice | undefined> {
  const { rows } = await sql.query<StoredInvoice>('select id, payer, document, jws from invoice where id = $1', [id])
  return rows[0]
}
