import { canonicalJson } from '@assay/protocol/canonical-json'
import { sha256 } from '../kernel/bytes.ts'
import type { Database, Sql, Tx } from '../store/database.ts'
import { LedgerRefused } from './errors.ts'

type Seal = {
  seq: bigint
  from_xid: bigint
  until_xid: bigint
  transaction_ids: bigint[]
  leaves: Buffer
  previous_hash: Buffer
  hash: Buffer
}

const zeroHash = Buffer.alloc(32)
const transactionsPerSeal = 1_000

/**
 * Seals what has been committed since the last seal and returns how many transactions that were. Ids are given out
 * before commit, so they are no order; database transactions below the oldest one still running are all decided,
 * and nothing can come in between them any more.
 */
export async function sealBooks(database: Database): Promise<number> {
  let total = 0
  for (;;) {
    const sealed = await database.transaction(sealOnce)
    total += sealed
    if (sealed === 0) return total
  }
}

async function sealOnce(tx: Tx): Promise<number> {
  await tx.query('select pg_advisory_xact_lock(1634952033, 5)')
  const last = await lastSeal(tx)
  const from = last?.until_xid ?? 0n
  const until = await decidedUntil(tx, from)
  const transactions = await readTransactions(tx, from, until)
  if (transactions.length === 0) return 0
  const seal = {
    seq: (last?.seq ?? 0n) + 1n,
    from_xid: from,
    until_xid: until,
    transaction_ids: transactions.map(({ id }) => id),
    leaves: Buffer.concat(transactions.map(leafOf)),
    previous_hash: last?.hash ?? zeroHash,
  }
  await tx.query(
    `insert into ledger_seal (seq, from_xid, until_xid, transaction_ids, leaves, previous_hash, hash, sealed_at)
     values ($1, $2::text::xid8, $3::text::xid8, $4, $5, $6, $7, clock_timestamp())`,
    [seal.seq, from, until, seal.transaction_ids, seal.leaves, seal.previous_hash, sealHash(seal)],
  )
  return transactions.length
}

async function lastSeal(sql: Sql): Promise<Seal | undefined> {
  const { rows } = await sql.query<Seal>('select * from ledger_seal order by seq desc limit 1')
  return rows[0]
}

/** The end of the next range: whole database transactions only, and not many more rows than a seal should have. */
async function decidedUntil(sql: Sql, from: bigint): Promise<bigint> {
  const { rows } = await sql.query<{ bound: bigint; cut: bigint | null; first: bigint | null }>(
    `with bound as (select pg_snapshot_xmin(pg_current_snapshot()) as xid),
       pending as (select t.xid from ledger_transaction t, bound
         where t.xid >= $1::text::xid8 and t.xid < bound.xid order by t.xid, t.id limit $2)
     select bound.xid as bound, (select min(xid) from pending) as first,
       (select xid from pending order by xid offset $2 - 1) as cut from bound`,
    [from, transactionsPerSeal + 1],
  )
  const { bound = 0n, cut = null, first = null } = rows[0] ?? {}
  if (bound < from) {
    throw new LedgerRefused('the books were restored into another server; its transaction numbers are behind the seals')
  }
  if (cut === null) return bound
  return cut === first ? cut + 1n : cut
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
async function readTransactions(sql: Sql, from: bigint, until: bigint): Promise<SealedTransaction[]> {
  const { rows } = await sql.query<SealedTransaction>(
    `select t.id, t.reference, t.kind, t.payment_id, t.memo, t.xid,
        (extract(epoch from t.created_at) * 1000000)::bigint as created_us,
        coalesce(e.lines, '{null}') as lines, coalesce(e.names, '{null}') as names, coalesce(e.units, '{null}') as units,
        coalesce(e.amounts, '{null}') as amounts
     from ledger_transaction t
     cross join lateral (
       select array_agg(e.line order by e.line) as lines, array_agg(a.name order by e.line) as names,
         array_agg(a.unit order by e.line) as units, array_agg(e.amount_micro order by e.line) as amounts
       from ledger_entry e
       left join lateral (select a.name, a.unit from ledger_account a where a.id = e.account_id limit 1) a on true
       where e.transaction_id = t.id) e
     where t.xid >= $1::text::xid8 and t.xid < $2::text::xid8
     order by t.xid, t.id`,
    [from, until],
  )
  return rows
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
      seal.from_xid.toString(),
      seal.until_xid.toString(),
      seal.transaction_ids.map(String),
      seal.previous_hash.toString('hex'),
      seal.leaves.toString('hex'),
    ]),
  )
}

/** The newest seal, to be published: anyone who keeps it can tell later whether the books before it were touched. */
export async function sealHead(sql: Sql): Promise<{ seq: bigint; hash: Buffer } | undefined> {
  const last = await lastSeal(sql)
  return last && { seq: last.seq, hash: last.hash }
}

export type SealBreak = {
  seq: bigint
  what: 'seal changed' | 'seal missing' | 'transaction changed' | 'transaction missing' | 'transaction added'
  transactionId?: bigint
  reference?: string
}

/** Recomputes the chain from its beginning. Undefined when all is as sealed, else the first row that differs. */
export async function verifySeals(sql: Sql): Promise<SealBreak | undefined> {
  let previous: Pick<Seal, 'seq' | 'until_xid' | 'hash'> = { seq: 0n, until_xid: 0n, hash: zeroHash }
  for (;;) {
    const { rows } = await sql.query<Seal>('select * from ledger_seal where seq > $1 order by seq limit 1', [
      previous.seq,
    ])
    const seal = rows[0]
    if (!seal) return undefined
    if (seal.seq !== previous.seq + 1n) return { seq: previous.seq + 1n, what: 'seal missing' }
    const isLinked = seal.previous_hash.equals(previous.hash) && seal.from_xid === previous.until_xid
    if (!isLinked || !seal.hash.equals(sealHash(seal))) return { seq: seal.seq, what: 'seal changed' }
    const found = firstDifference(seal, await readTransactions(sql, seal.from_xid, seal.until_xid))
    if (found) return found
    previous = seal
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
    present.delete(id)
  }
  const [added] = present.values()
  return added && { seq: seal.seq, what: 'transaction added', transactionId: added.id, reference: added.reference }
}
