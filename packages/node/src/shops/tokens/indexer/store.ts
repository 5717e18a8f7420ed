import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import type { Database, Sql, Tx } from '@assay/till/store/database'
import { topicHashes } from '../abi/b20.ts'
import type { RawLog } from '../read/decode-events.ts'
import { emptyDigest, extendDigest, insertLogs } from '../read/log-index.ts'
import { readUint } from '../read/words.ts'
import type { Step } from './read-step.ts'

export type IndexCursor = {
  fromBlock: bigint
  toBlock: bigint
  toHash: Hex
  /** The newest final block when it was last moved. */
  finalBlock: bigint
  logs: bigint
  updatedMs: number
}

export async function loadCursor(sql: Sql, chainId: number): Promise<IndexCursor | undefined> {
  const { rows } = await sql.query<IndexCursor & { updated_at: Date }>(
    `select from_block as "fromBlock", to_block as "toBlock", to_hash as "toHash", final_block as "finalBlock", logs, updated_at
     from token_index where chain_id = $1`,
    [chainId],
  )
  return rows.map(({ updated_at, ...cursor }) => ({ ...cursor, updatedMs: updated_at.getTime() }))[0]
}

export async function listedTokens(sql: Sql, chainId: number): Promise<Address[]> {
  const { rows } = await sql.query<{ token: Address }>('select token from token_listed where chain_id = $1', [chainId])
  return rows.map(({ token }) => token)
}

/** The chain has another block where the index ends: what was read is worth nothing. Tokens are found again. */
export async function dropIndex(database: Database, chainId: number): Promise<void> {
  await database.transaction(async (tx) => {
    for (const sql of [
      'delete from token_log_subject where chain_id = $1 and indexed',
      'delete from token_listed where chain_id = $1',
      'delete from token_index where chain_id = $1',
    ])
      await tx.query(sql, [chainId])
  })
}

/** More logs than this of one token or list are not kept: readers then ask the chain, as without an index. */
const logsPerSubjectMax = 50_000

export type StepEnd = { fromBlock: bigint; toHash: Hex; finalBlock: bigint; nowMs: number }

/** One transaction: logs, tokens and the place of the index. False when another process was there before. */
export function saveStep(database: Database, chainId: number, step: Step, end: StepEnd): Promise<boolean> {
  return database.transaction(async (tx) => {
    const moved = await tx.query(
      `insert into token_index (chain_id, from_block, to_block, to_hash, final_block, logs, updated_at)
       values ($1, $2, $3, $4, $5, $6, $7)
       on conflict (chain_id) do update
         set to_block = excluded.to_block, to_hash = excluded.to_hash, final_block = excluded.final_block,
             logs = token_index.logs + excluded.logs, updated_at = excluded.updated_at
         where token_index.to_block = $8
       returning 1`,
      [
        chainId,
        end.fromBlock,
        step.toBlock,
        end.toHash,
        end.finalBlock,
        step.created.length + step.policyLogs.length + step.tokenLogs.length,
        new Date(end.nowMs),
        step.fromBlock - 1n,
      ],
    )
    if (moved.rows.length === 0) return false
    await listTokens(tx, chainId, step, end.nowMs)
    for (const part of subjectsOf(step)) await keepLogs(tx, chainId, step, end, part)
    await recordChanges(tx, chainId, step, end.nowMs)
    return true
  })
}

const policyCreatedTopic = topicHashes['PolicyCreated(uint64,address,uint8)']
const policySubject = (log: RawLog) => `policy:${readUint(log.topics[1] ?? '0x', 64) ?? 'unknown'}`

/** `begins`: the block with which its history begins, if it begins here. */
type SubjectLogs = { subject: string; logs: readonly RawLog[]; begins: bigint | undefined }

function* subjectsOf(step: Step): Generator<SubjectLogs> {
  for (const { token, log } of step.created) yield { subject: `created:${token}`, logs: [log], begins: log.blockNumber }
  const births = new Map<string, bigint>(step.created.map(({ token, log }) => [token, log.blockNumber]))
  const groups = new Map<string, RawLog[]>(step.created.map(({ token }) => [token, []]))
  for (const log of step.tokenLogs) groups.set(log.address, [...(groups.get(log.address) ?? []), log])
  for (const log of step.policyLogs) {
    const subject = policySubject(log)
    if (!groups.has(subject) && log.topics[0] === policyCreatedTopic) births.set(subject, log.blockNumber)
    groups.set(subject, [...(groups.get(subject) ?? []), log])
  }
  for (const [subject, logs] of groups) yield { subject, logs, begins: births.get(subject) }
}

/** A subject is indexed from the beginning of its history and never from the middle: half a history would look like a whole one. */
async function keepLogs(
  tx: Tx,
  chainId: number,
  step: Step,
  end: StepEnd,
  { subject, logs, begins }: SubjectLogs,
): Promise<void> {
  const key = [chainId, subject]
  if (begins !== undefined) {
    await tx.query('delete from token_log_subject where chain_id = $1 and subject = $2', key)
    // A token's readers ask from its creation on, those of lists and creations from the beginning.
    const fromBlock = subject.startsWith('0x') ? begins : end.fromBlock
    await tx.query(
      `insert into token_log_subject (chain_id, subject, from_block, to_block, to_hash, updated_at, digest, indexed)
       values ($1, $2, $3, $4, $5, $6, $7, true)`,
      [...key, fromBlock, step.toBlock, end.toHash, new Date(end.nowMs), emptyDigest],
    )
  }
  const { rows } = await tx.query<{ digest: Hex; kept: bigint }>(
    `select s.digest, (select count(*) from token_log l where l.chain_id = $1 and l.subject = $2) as kept
     from token_log_subject s where s.chain_id = $1 and s.subject = $2 and s.indexed for update`,
    key,
  )
  const row = rows[0]
  if (row === undefined) return
  if (Number(row.kept) + logs.length > logsPerSubjectMax) {
    await tx.query('delete from token_log_subject where chain_id = $1 and subject = $2', key)
    return
  }
  if (logs.length === 0) return
  await insertLogs(tx, chainId, subject, logs)
  await tx.query('update token_log_subject set digest = $3, updated_at = $4 where chain_id = $1 and subject = $2', [
    ...key,
    extendDigest(row.digest, logs),
    new Date(end.nowMs),
  ])
}

async function listTokens(tx: Tx, chainId: number, step: Step, nowMs: number): Promise<void> {
  for (const { token, log } of step.created)
    await tx.query(
      `insert into token_listed (chain_id, token, created_block, created_transaction, changed_block, published_block, due_at)
       values ($1, $2, $3, $4, $3, $5, $6) on conflict do nothing`,
      [chainId, token, log.blockNumber, log.transaction, log.blockNumber - 1n, new Date(nowMs)],
    )
}

/** Tokens with news, their own or of a list that they follow, are read again soon. */
async function recordChanges(tx: Tx, chainId: number, step: Step, nowMs: number): Promise<void> {
  const tokens = [...new Set(step.tokenLogs.map(({ address }) => address))]
  const policies = [...new Set(step.policyLogs.map(policySubject))]
  if (tokens.length === 0 && policies.length === 0) return
  await tx.query(
    `update token_listed set changed_block = $4, due_at = least(due_at, $5), attempts = 0
     where chain_id = $1 and (token = any($2) or token in
       (select token from token_policy where chain_id = $1 and policy = any($3)))`,
    [chainId, tokens, policies, step.toBlock, new Date(nowMs)],
  )
}
