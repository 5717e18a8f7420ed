import { canonicalJson } from '@assay/protocol/canonical-json'
import { sha256 } from '../kernel/bytes.ts'
import { ArchiveBroken } from '../store/archive-files.ts'
import type { Database, Sql, Tx } from '../store/database.ts'
import { type ArchivedEntries, openArchivedEntries } from './archived-entries.ts'
import { rollUpTransactions } from './roll-up-books.ts'

type Seal = {
  seq: bigint
  position: bigint
  transaction_ids: bigint[]
  leaves: Buffer
  previous_hash: Buffer
  hash: Buffer
}

const zeroHash = Buffer.alloc(32)
const transactionsPerSeal = 1_000

/**
 * Seals what has been committed since the last seal and returns how many transactions that were. Each gets its place here,
 * whenever it was made: a transaction that commits late is sealed later than those that began after it.
 */
export async function sealBooks(database: Database): Promise<number> {
  let total = 0
  for (;;) {
    const sealed = await database.transaction(sealOnce)
    total += sealed
    if (sealed < transactionsPerSeal) return total
  }
}

/**
 * What is sealed is taken as a range: this table was mostly empty when it was last counted, so a join with the oldest ones
 * would be planned for a row or two and would read all that waits again for each of them.
 */
async function sealOnce(tx: Tx): Promise<number> {
  await tx.query('select pg_advisory_xact_lock(1634952033, 5)')
  const { rows } = await tx.query<{ id: bigint }>(
    `delete from ledger_unsealed where transaction_id <= (select max(transaction_id) from (
       select transaction_id from ledger_unsealed order by transaction_id limit $1) first) returning transaction_id as id`,
    [transactionsPerSeal],
  )
  if (rows.length === 0) return 0
  const last = await lastSeal(tx)
  const transactions = await readTransactions(
    tx,
    rows.map(({ id }) => id),
  )
  const ids = transactions.map(({ id }) => id)
  const seal = {
    seq: (last?.seq ?? 0n) + 1n,
    position: last === undefined ? 0n : endOf(last),
    transaction_ids: ids,
    leaves: Buffer.concat(transactions.map(leafOf)),
    previous_hash: last?.hash ?? zeroHash,
  }
  await tx.query(
    `insert into ledger_seal (seq, position, transaction_ids, leaves, previous_hash, hash, sealed_at)
     values ($1, $2, $3, $4, $5, $6, clock_timestamp())`,
    [seal.seq, seal.position, ids, seal.leaves, seal.previous_hash, sealHash(seal)],
  )
  await rollUpTransactions(tx, ids)
  return transactions.length
}

const endOf = ({ position, transaction_ids }: Pick<Seal, 'position' | 'transaction_ids'>): bigint =>
  position + BigInt(transaction_ids.length)

async function lastSeal(sql: Sql): Promise<Seal | undefined> {
  const { rows } = await sql.query<Seal>('select * from ledger_seal order by seq desc limit 1')
  return rows[0]
}

type SealedTransaction = {
  id: bigint
  reference: string
  kind: string
  payment_id: string | null
  memo: string
  xid: bigint
  created_us: bigint
  lines: (number | null)[]
  names: (string | null)[]
  units: (string | null)[]
  amounts: (bigint | null)[]
}

/** Lines and accounts are looked up one by one: a join would read all accounts there are for the postings of a second. */
async function readTransactions(sql: Sql, ids: readonly bigint[]): Promise<SealedTransaction[]> {
  const { rows } = await sql.query<SealedTransaction>(
    `select t.id, t.reference, t.kind, t.payment_id, t.memo, t.xid,
        (extract(epoch from t.created_at) * 1000000)::bigint as created_us,
        coalesce(e.lines, '{null}') as lines, coalesce(e.names, '{null}') as names, coalesce(e.units, '{null}') as units,
        coalesce(e.amounts, '{null}') as amounts
     from unnest($1::bigint[]) i (id)
     cross join lateral (select * from ledger_transaction t where t.id = i.id offset 0) t
     cross join lateral (
       select array_agg(e.line order by e.line) as lines, array_agg(a.name order by e.line) as names,
         array_agg(a.unit order by e.line) as units, array_agg(e.amount_micro order by e.line) as amounts
       from ledger_entry e
       left join lateral (select a.name, a.unit from ledger_account a where a.id = e.account_id limit 1) a on true
       where e.transaction_id = t.id) e
     order by t.id`,
    [ids],
  )
  return rows
}

/** Those without lines in the database have theirs in a file. */
async function withArchived(transactions: SealedTransaction[], archive: ArchivedEntries): Promise<SealedTransaction[]> {
  for (const transaction of transactions) {
    const lines = transaction.lines[0] === null ? await archive.linesOf(transaction.id) : undefined
    if (!lines) continue
    transaction.lines = lines.map(([line]) => line)
    transaction.names = lines.map(([, name]) => name)
    transaction.units = lines.map(([, , unit]) => unit)
    transaction.amounts = lines.map(([, , , amount]) => BigInt(amount))
  }
  return transactions
}

/** Hash of everything a transaction says. */
function leafOf(transaction: SealedTransaction): Buffer {
  const { id, reference, kind, payment_id, memo, xid, created_us, lines, names, units, amounts } = transaction
  return sha256(
    canonicalJson([
      id.toString(),
      reference,
      kind,
      payment_id,
      memo,
      xid.toString(),
      created_us.toString(),
      lines.map((line, index) => [
        line,
        names[index] ?? null,
        units[index] ?? null,
        amounts[index]?.toString() ?? null,
      ]),
    ]),
  )
}

function sealHash(seal: Omit<Seal, 'hash'>): Buffer {
  return sha256(
    canonicalJson([
      'assay-ledger-seal-1',
      seal.seq.toString(),
      seal.position.toString(),
      seal.transaction_ids.map(String),
      seal.previous_hash.toString('hex'),
      seal.leaves.toString('hex'),
    ]),
  )
}

export type SealHead = Pick<Seal, 'seq' | 'hash'>

/** The newest seal, to be published: anyone who keeps it can tell later whether the books before it were touched. */
export async function sealHead(sql: Sql): Promise<SealHead | undefined> {
  const last = await lastSeal(sql)
  return last && { seq: last.seq, hash: last.hash }
}

export type SealBreak = {
  seq: bigint
  what:
    | 'seal changed'
    | 'seal missing'
    | 'transaction changed'
    | 'transaction missing'
    | 'transaction added'
    | 'archive broken'
  transactionId?: bigint
  reference?: string
}

/**
 * Recomputes the chain from its beginning, or from a seal up to which it was verified. Undefined when all is as sealed, else
 * the first row that differs. Postings that left the database are read from their files in `archiveFolder`.
 */
export async function verifySeals(
  sql: Sql,
  archiveFolder?: string,
  verified?: SealHead,
): Promise<SealBreak | undefined> {
  const progress = { seq: 0n }
  try {
    const archive = await openArchivedEntries(sql, archiveFolder)
    const first = verified ? await readSeal(sql, verified) : beforeFirst
    if (!first) return { seq: verified?.seq ?? 0n, what: 'seal changed' }
    const found = await verifyChain(sql, first, archive, progress)
    if (!found) await archive.readRest()
    return found
  } catch (error) {
    if (!(error instanceof ArchiveBroken)) throw error
    return { seq: progress.seq, what: 'archive broken', reference: error.message }
  }
}

type Previous = Pick<Seal, 'seq' | 'position' | 'transaction_ids' | 'hash'>

const beforeFirst: Previous = { seq: 0n, position: 0n, transaction_ids: [], hash: zeroHash }

async function readSeal(sql: Sql, { seq, hash }: SealHead): Promise<Seal | undefined> {
  const { rows } = await sql.query<Seal>('select * from ledger_seal where seq = $1', [seq])
  return rows.find((seal) => seal.hash.equals(hash) && sealHash(seal).equals(hash))
}

const sealsAtOnce = 16

async function verifyChain(
  sql: Sql,
  first: Previous,
  archive: ArchivedEntries,
  progress: { seq: bigint },
): Promise<SealBreak | undefined> {
  let previous = first
  for (;;) {
    const { rows: seals } = await sql.query<Seal>(
      `select * from ledger_seal where seq > $1 order by seq limit ${sealsAtOnce}`,
      [previous.seq],
    )
    if (seals.length === 0) return neverSealed(sql, previous.seq)
    const ids = seals.flatMap(({ transaction_ids }) => transaction_ids)
    const present = new Map((await readTransactions(sql, ids)).map((transaction) => [transaction.id, transaction]))
    for (const seal of seals) {
      progress.seq = seal.seq
      if (seal.seq !== previous.seq + 1n) return { seq: previous.seq + 1n, what: 'seal missing' }
      const isLinked = seal.previous_hash.equals(previous.hash) && seal.position === endOf(previous)
      if (!isLinked || !seal.hash.equals(sealHash(seal))) return { seq: seal.seq, what: 'seal changed' }
      const sealed = seal.transaction_ids.flatMap((id) => present.get(id) ?? [])
      const found = firstDifference(seal, await withArchived(sealed, archive))
      if (found) return found
      previous = seal
    }
  }
}

function firstDifference(seal: Seal, transactions: readonly SealedTransaction[]): SealBreak | undefined {
  const present = new Map(transactions.map((transaction) => [transaction.id, transaction]))
  for (const [index, id] of seal.transaction_ids.entries()) {
    const transaction = present.get(id)
    if (!transaction) return { seq: seal.seq, what: 'transaction missing', transactionId: id }
    if (!leafOf(transaction).equals(seal.leaves.subarray(index * 32, index * 32 + 32))) {
      return { seq: seal.seq, what: 'transaction changed', transactionId: id, reference: transaction.reference }
    }
  }
  return undefined
}

/**
 * Every transaction is in one seal or waits for one; any other was written without the ledger's functions. As sets,
 * which are sorted once: how many transactions the seals name is unknown to the planner, and a join would compare each
 * with each.
 */
async function neverSealed(sql: Sql, seq: bigint): Promise<SealBreak | undefined> {
  const { rows } = await sql.query<{ id: bigint; reference: string }>(
    `with known as materialized (
         select unnest(transaction_ids) as id from ledger_seal union all select transaction_id from ledger_unsealed),
       found as ((select id from ledger_transaction except all select id from known)
         union all (select id from known except all select id from ledger_transaction) limit 1)
     select f.id, t.reference from found f cross join lateral (select reference from ledger_transaction where id = f.id) t`,
  )
  const [found] = rows
  return found && { seq, what: 'transaction added', transactionId: found.id, reference: found.reference }
}
