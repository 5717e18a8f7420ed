import type pg from 'pg'
import { type Manifest, writeArchive } from './archive-files.ts'
import { writeAudit } from './audit-log.ts'
import type { Tx } from './database.ts'
import { minPaymentDays } from './partitions.ts'

/** Payments first: postings can leave once no payment is left whose refund would need them. */
export const archivedTables = ['payment', 'ledger_entry'] as const
type ArchivedTable = (typeof archivedTables)[number]

export type ArchiveOptions = {
  folder: string
  /** Days after their period, at least 400. */
  days: number
  now: Date
  actor: string
  rowsPerFile?: number
  say?(text: string): void
}

export type ArchivedPart = { partition: string; rows: number; files: number }

type Part = { name: string; table: ArchivedTable; from: string; until: string }

const rowsPerFileDefault = 10_000

/**
 * Takes partitions whose time is over out of their tables, writes them into files and drops them, one after the other. Each step is
 * one transaction and is found again: a partition that was detached before a crash is written by the next call. Needs the owner of
 * the database.
 */
export async function archivePartitions(client: pg.Client, options: ArchiveOptions): Promise<ArchivedPart[]> {
  if (options.days < minPaymentDays) throw new RangeError(`partitions are kept for at least ${minPaymentDays} days`)
  const done: ArchivedPart[] = []
  const finish = async (part: Part) => {
    done.push(await exportAndDrop(client, options, part))
    options.say?.(`${part.name}: ${done.at(-1)?.rows} rows`)
  }
  await client.query(`select pg_advisory_lock(1634952033, 14)`)
  try {
    const { rows: begun } = await client.query<Part>(
      `select name, table_name as table, from_day::text as from, until_day::text as until
       from archived_partition where archived_at is null order by name`,
    )
    for (const part of begun) await finish(part)
    for (const table of archivedTables)
      for (const part of await endedParts(client, table, options))
        if (await detach(client, part, options)) await finish(part)
  } finally {
    await client.query(`select pg_advisory_unlock(1634952033, 14)`)
  }
  return done
}

/** Oldest first, so that what is left of a table is always its newer end. */
async function endedParts(client: pg.Client, table: ArchivedTable, { days, now }: ArchiveOptions): Promise<Part[]> {
  const { rows } = await client.query<Part>(
    `select c.relname as name, t.table_name as table, d.starts::text as from, (d.starts + t.days)::text as until
     from partitioned_table t join pg_inherits i on i.inhparent = t.table_name::regclass join pg_class c on c.oid = i.inhrelid
     cross join lateral (select to_date(right(c.relname, 8), 'YYYYMMDD') as starts) d
     where t.table_name = $1 and c.relname ~ '_[0-9]{8}$' and d.starts + t.days + $2::integer <= ($3::timestamptz at time zone 'utc')::date
     order by c.relname`,
    [table, days, now],
  )
  return rows
}

/** False where something still needs its rows, or where the table is busy. */
async function detach(client: pg.Client, part: Part, { now, actor }: ArchiveOptions): Promise<boolean> {
  const name = client.escapeIdentifier(part.name)
  return inTransaction(client, async (tx) => {
    await client.query(
      `set local lock_timeout = '2s'; set local statement_timeout = 0; lock table ${name} in share mode`,
    )
    if (await isNeeded(client, part)) return false
    if (part.table === 'ledger_entry') await keepSums(client, name)
    await client.query(`alter table ${part.table} detach partition ${name}`)
    await client.query(`insert into app_access values ($1, 'select') on conflict do nothing`, [part.name])
    await client.query(
      `insert into archived_partition (name, table_name, from_day, until_day, detached_at) values ($1, $2, $3, $4, $5)`,
      [part.name, part.table, part.from, part.until, now],
    )
    await writeAudit(tx, { actor, action: 'archive.detach', subject: part.name, details: {} })
    return true
  }).catch((error: { code?: string }) => {
    if (error.code === '55P03') return false
    throw error
  })
}

async function isNeeded(client: pg.Client, { table, until, name }: Part): Promise<boolean> {
  const isNeededBy = async (rows: string, values: readonly unknown[] = []) =>
    ((await client.query(`select from ${rows} limit 1`, [...values])).rowCount ?? 0) > 0
  if (table === 'payment')
    return isNeededBy(
      `${client.escapeIdentifier(name)} where not final or state in ('claimed', 'settling', 'unknown', 'settled')`,
    )
  // A refund takes its shares from the postings, and what is not sealed has no place in the chain yet.
  return (
    (await isNeededBy(`payment where id < first_id_at('pay', $1::date::timestamp at time zone 'utc')`, [until])) ||
    (await isNeededBy('ledger_unsealed where transaction_id < extract(epoch from $1::date)::bigint << 31', [until]))
  )
}

async function keepSums(client: pg.Client, name: string): Promise<void> {
  const add = `on conflict (account_id, payment_id) do update set amount_micro = ledger_archived.amount_micro + excluded.amount_micro,
    since = least(ledger_archived.since, excluded.since)`
  await client.query(
    `insert into ledger_archived (account_id, payment_id, amount_micro, since)
     select e.account_id, '', sum(e.amount_micro), to_timestamp(min(e.transaction_id) >> 31)
     from ${name} e join ledger_account a on a.id = e.account_id where a.kind <> 'clearing' group by 1 ${add}`,
  )
  await client.query(
    `insert into ledger_archived (account_id, payment_id, amount_micro, since)
     select e.account_id, coalesce(t.payment_id, ''), sum(e.amount_micro), min(t.created_at)
     from ${name} e join ledger_account a on a.id = e.account_id join ledger_transaction t on t.id = e.transaction_id
     where a.kind = 'clearing' group by 1, 2 having sum(e.amount_micro) <> 0 ${add}`,
  )
}

async function exportAndDrop(client: pg.Client, options: ArchiveOptions, part: Part): Promise<ArchivedPart> {
  const { folder, now, actor, rowsPerFile = rowsPerFileDefault } = options
  const { name: partition, table, from, until } = part
  const { manifest, hash } = await writeArchive(
    folder,
    { table, partition, from, until },
    pagesOf(client, part, rowsPerFile),
  )
  await countAgain(client, part, manifest)
  await inTransaction(client, async (tx) => {
    await client.query('update archived_partition set manifest_sha256 = $2, archived_at = $3 where name = $1', [
      ...[partition, hash, now],
    ])
    await client.query(`delete from app_access where table_name = $1`, [partition])
    await client.query(`drop table ${client.escapeIdentifier(partition)}`)
    const details = { rows: manifest.rows, manifest_sha256: hash.toString('hex') }
    await writeAudit(tx, { actor, action: 'archive.drop', subject: partition, details })
  })
  return { partition, rows: manifest.rows, files: manifest.files.length }
}

/** What is dropped is what was written. */
async function countAgain(client: pg.Client, { name, table }: Part, manifest: Manifest): Promise<void> {
  const key = table === 'payment' ? '*' : 'distinct transaction_id'
  const { rows } = await client.query<{ count: string }>(
    `select count(${key})::text as count from ${client.escapeIdentifier(name)}`,
  )
  if (Number(rows[0]?.count) !== manifest.rows) throw new Error(`${name} changed while it was written`)
}

async function* pagesOf(
  client: pg.Client,
  { name, table }: Part,
  limit: number,
): AsyncGenerator<{ key: string; line: string }[]> {
  const from = client.escapeIdentifier(name)
  // Postings with the names of their accounts: the files can be read without the database.
  const [text, first] =
    table === 'payment'
      ? [`select id as key, to_jsonb(p)::text as line from ${from} p where id > $1 order by id limit $2`, '']
      : [
          `select transaction_id::text as key, json_build_object('id', transaction_id::text, 'lines',
             json_agg(json_build_array(e.line, a.name, a.unit, e.amount_micro::text) order by e.line))::text as line
           from (select * from ${from} where transaction_id > $1 and transaction_id <= (select max(transaction_id) from
             (select distinct transaction_id from ${from} where transaction_id > $1 order by transaction_id limit $2) page)) e
           join ledger_account a on a.id = e.account_id group by e.transaction_id order by e.transaction_id`,
          '0',
        ]
  for (let after = first; ; ) {
    const { rows } = await client.query<{ key: string; line: string }>(text, [after, limit])
    const last = rows.at(-1)
    if (last === undefined) return
    yield rows
    after = last.key
  }
}

async function inTransaction<T>(client: pg.Client, work: (tx: Tx) => Promise<T>): Promise<T> {
  await client.query('begin')
  try {
    const query = client.query.bind(client) as unknown as Tx['query']
    const result = await work({ query, transaction: true })
    await client.query('commit')
    return result
  } catch (error) {
    await client.query('rollback')
    throw error
  }
}
