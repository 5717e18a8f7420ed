import type pg from 'pg'

/** Indexes whose keys come in no order, and that no job needs that runs while rows are written. */
const unordered = [
  ...['claim_pkey', 'transfer_network_transaction_position_key', 'transfer_by_key', 'payment_ended_by_payer'],
  ...['ledger_entry_account', 'reward_sale_payer', 'attestation_by_agent', 'attestation_by_pair'],
  ...['creator_accrual_by_wallet'],
]

type Index = { name: string; table: string; definition: string; constraint: string | null }

/** To build them over all rows takes a fraction of keeping them with each row. Nothing is put back where the work fails. */
export async function withoutIndexes(client: pg.Client, work: () => Promise<void>): Promise<void> {
  const { rows } = await client.query<Index>(
    `select c.relname as name, i.indrelid::regclass::text as table, pg_get_indexdef(c.oid) as definition,
       (select pg_get_constraintdef(k.oid) from pg_constraint k where k.conindid = c.oid) as constraint
     from pg_class c join pg_index i on i.indexrelid = c.oid where c.relname = any($1)`,
    [unordered],
  )
  if (rows.length < unordered.length) throw new Error(`only these exist: ${rows.map(({ name }) => name)}`)
  for (const { name, table, constraint } of rows)
    await client.query(constraint === null ? `drop index ${name}` : `alter table ${table} drop constraint ${name}`)
  await work()
  for (const { name, table, definition, constraint } of rows)
    await client.query(
      constraint === null
        ? definition.replace(' ON ONLY ', ' ON ')
        : `alter table ${table} add constraint ${name} ${constraint}`,
    )
}
