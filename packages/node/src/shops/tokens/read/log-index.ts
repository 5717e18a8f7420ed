import type { Address } from '@assay/protocol/address'
import { type Hex, toHex } from '@assay/protocol/bytes'
import { sha256 } from '@assay/till/kernel/bytes'
import type { Database, Tx } from '@assay/till/store/database'
import { byPlace, type RawLog } from './decode-events.ts'
import type { LogGap } from './read-logs.ts'

export type StoredLogs = {
  fromBlock: bigint
  toBlock: bigint
  toHash: Hex
  logs: RawLog[]
  /** Followed by the background index up to a final block: nothing of it is written by readers. */
  indexed?: boolean
}

/** What earlier readings fetched. A source of candidates and nothing else. */
export type LogIndex = {
  /** Undefined also where the kept logs are not all that was saved: a missing one would hide a holder. */
  load(subject: string): Promise<StoredLogs | undefined>
  /** Adds to what was kept, or replaces what is known of the subject if nothing usable was. */
  save(subject: string, covered: StoredLogs, failed: readonly LogGap[], kept: StoredLogs | undefined): Promise<void>
  /** What is kept does not fit what the chain says: the next reading begins again. */
  remove(subject: string): Promise<void>
}

export const noLogIndex: LogIndex = { load: async () => undefined, save: async () => {}, remove: async () => {} }

type SubjectRow = {
  from_block: bigint
  to_block: bigint | null
  to_hash: Hex | null
  digest: Hex | null
  indexed: boolean
}

type Row = {
  block_number: bigint
  log_index: number
  block_hash: Hex
  transaction_hash: Hex
  address: Address
  topics: Hex[]
  data: Hex
}

export function createLogIndex(database: Database, chainId: number, nowMs: () => number): LogIndex {
  return {
    load: async (subject) => {
      // One statement, so that the place of the index and the logs are of one moment.
      const { rows } = await database.query<Row & SubjectRow>(
        `select s.from_block, s.digest, s.indexed,
                case when s.indexed then i.to_block else s.to_block end as to_block,
                case when s.indexed then i.to_hash else s.to_hash end as to_hash,
                l.block_number, l.log_index, l.block_hash, l.transaction_hash, l.address, l.topics, l.data
         from token_log_subject s
         left join token_index i on s.indexed and i.chain_id = s.chain_id
         left join token_log l on l.chain_id = s.chain_id and l.subject = s.subject
         where s.chain_id = $1 and s.subject = $2 order by l.block_number, l.log_index`,
        [chainId, subject],
      )
      const row = rows[0]
      if (row === undefined || row.to_block === null || row.to_hash === null) return undefined
      const logs = rows.filter((one) => one.block_number !== null).map(toLog)
      if (extendDigest(emptyDigest, logs) !== row.digest) return undefined
      const covered = { fromBlock: row.from_block, toBlock: row.to_block, toHash: row.to_hash, logs }
      return row.indexed ? { ...covered, indexed: true } : covered
    },
    save: (subject, covered, failed, kept) =>
      database.transaction(async (tx) => {
        if (kept === undefined)
          await tx.query('delete from token_log_subject where chain_id = $1 and subject = $2 and not indexed', [
            chainId,
            subject,
          ])
        const gaps = failed.map((gap) => ({
          from_block: String(gap.fromBlock),
          to_block: String(gap.toBlock),
          reason: gap.reason,
        }))
        const taken = await tx.query(
          `insert into token_log_subject (chain_id, subject, from_block, to_block, to_hash, failed, updated_at, digest)
           values ($1, $2, $3, $4, $5, $6, $7, $8)
           on conflict (chain_id, subject) do update
             set to_block = excluded.to_block, to_hash = excluded.to_hash, failed = excluded.failed,
                 updated_at = excluded.updated_at, digest = excluded.digest
             where token_log_subject.to_block <= excluded.to_block and not token_log_subject.indexed
           returning 1`,
          [
            chainId,
            subject,
            covered.fromBlock,
            covered.toBlock,
            covered.toHash,
            JSON.stringify(gaps),
            new Date(nowMs()),
            extendDigest(emptyDigest, [...(kept?.logs ?? []), ...covered.logs].sort(byPlace)),
          ],
        )
        // Somebody else is further, perhaps on another branch of the chain: these logs are not added to theirs.
        if (taken.rows.length === 0 || covered.logs.length === 0) return
        await insertLogs(tx, chainId, subject, covered.logs)
      }),
    remove: async (subject) => {
      await database.query('delete from token_log_subject where chain_id = $1 and subject = $2', [chainId, subject])
    },
  }
}

export async function insertLogs(tx: Tx, chainId: number, subject: string, logs: readonly RawLog[]): Promise<void> {
  await tx.query(
    `insert into token_log (chain_id, subject, block_number, log_index, block_hash, transaction_hash, address, topics, data)
     select $1, $2, (one->>'n')::bigint, (one->>'i')::int, one->>'h', one->>'t', one->>'a',
            array(select jsonb_array_elements_text(one->'p')), one->>'d'
     from jsonb_array_elements($3::jsonb) one
     on conflict do nothing`,
    [chainId, subject, JSON.stringify(logs.map(toJson))],
  )
}

export const emptyDigest = toHex(sha256(''))

/** Link by link in the order of the chain, so that it does not matter in how many steps the logs came. */
export function extendDigest(digest: Hex, logs: readonly RawLog[]): Hex {
  let last = digest
  for (const log of logs) last = toHex(sha256(last + JSON.stringify(toJson(log))))
  return last
}

const toJson = (log: RawLog) => ({
  n: String(log.blockNumber),
  i: log.logIndex,
  h: log.blockHash,
  t: log.transaction,
  a: log.address,
  p: log.topics,
  d: log.data,
})

function toLog(row: Row): RawLog {
  return {
    address: row.address,
    topics: row.topics,
    data: row.data,
    blockNumber: row.block_number,
    blockHash: row.block_hash,
    transaction: row.transaction_hash,
    logIndex: row.log_index,
  }
}
