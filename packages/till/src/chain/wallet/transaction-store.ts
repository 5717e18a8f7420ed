import type { Address } from '@assay/protocol/address'
import { type Hex, toHex } from '@assay/protocol/bytes'
import { fromHex } from '../../kernel/bytes.ts'
import type { Sql } from '../../store/database.ts'
import type { Fees } from './fees.ts'
import type { SignedTransaction } from './transaction-bytes.ts'
import type { WalletLease } from './wallet-lease.ts'

export type NewTransaction = SignedTransaction & {
  nonce: bigint
  purpose: string
  references: readonly string[]
  fees: Fees
  usefulUntil: number | undefined
  signedAtMs: number
}

export type StoreOutcome = {
  /** `fenced`: another process has the wallet now. `nonce_taken`: this nonce already carries something that was sent. */
  status: 'stored' | 'fenced' | 'nonce_taken'
  wanted: boolean
}

/**
 * Fence, lease and row in one durable statement. A row of the same nonce may be overwritten only while it cannot have
 * been broadcast: refused by every node, or written by this holder, who then saw its own write fail.
 */
const storeSql = `
with leased as (
  update settlement_wallet set expires_at = clock_timestamp() + $4 * interval '1 millisecond'
  where network = $1 and wallet = $2 and token = $3
  returning coalesce(wanted_until > clock_timestamp(), false) as wanted
), stored as (
  insert into settlement_transaction as t (network, wallet, nonce, token, purpose, reference_ids, state, hash, raw,
    max_fee_wei, priority_fee_wei, useful_until, signed_at)
  select $1, $2, $5, $3, $6, $7, 'signed', $8, $9, $10, $11, $12, $13 from leased
  on conflict (network, wallet, nonce) do update
    set token = excluded.token, purpose = excluded.purpose, reference_ids = excluded.reference_ids, state = 'signed',
      hash = excluded.hash, earlier_hashes = t.earlier_hashes || t.hash, raw = excluded.raw,
      max_fee_wei = excluded.max_fee_wei, priority_fee_wei = excluded.priority_fee_wei,
      useful_until = excluded.useful_until, signed_at = excluded.signed_at, broadcast_at = null, ended_at = null
    where t.state = 'abandoned' or (t.state = 'signed' and t.token = excluded.token)
  returning 1
)
select wanted, exists (select 1 from stored) as stored from leased`

export async function storeTransaction(sql: Sql, lease: WalletLease, row: NewTransaction): Promise<StoreOutcome> {
  const { rows } = await sql.query<{ wanted: boolean; stored: boolean }>({
    name: 'settlement-transaction-store',
    text: storeSql,
    values: [
      lease.network,
      lease.wallet,
      lease.token,
      lease.leaseMs,
      row.nonce,
      row.purpose,
      row.references,
      row.hash,
      fromHex(row.raw),
      row.fees.maxFeePerGas.toString(),
      row.fees.maxPriorityFeePerGas.toString(),
      row.usefulUntil ?? null,
      new Date(row.signedAtMs),
    ],
  })
  const answer = rows[0]
  if (!answer) return { status: 'fenced', wanted: false }
  return { status: answer.stored ? 'stored' : 'nonce_taken', wanted: answer.wanted }
}

/** Another version for a nonce that is already on its way. False when another process has the wallet now. */
export async function replaceTransaction(
  sql: Sql,
  lease: WalletLease,
  version: SignedTransaction & { nonce: bigint; fees: Fees; purpose: string; signedAtMs: number },
): Promise<boolean> {
  const { rowCount } = await sql.query(
    `with leased as (
       update settlement_wallet set expires_at = clock_timestamp() + $4 * interval '1 millisecond'
       where network = $1 and wallet = $2 and token = $3 returning 1
     )
     update settlement_transaction t set token = $3, purpose = $6, hash = $7, earlier_hashes = t.earlier_hashes || t.hash,
       raw = $8, max_fee_wei = $9, priority_fee_wei = $10, signed_at = $11, state = 'signed', ended_at = null, mined_hash = null
     from leased where t.network = $1 and t.wallet = $2 and t.nonce = $5`,
    [
      lease.network,
      lease.wallet,
      lease.token,
      lease.leaseMs,
      version.nonce,
      version.purpose,
      version.hash,
      fromHex(version.raw),
      version.fees.maxFeePerGas.toString(),
      version.fees.maxPriorityFeePerGas.toString(),
      new Date(version.signedAtMs),
    ],
  )
  return rowCount > 0
}

type Key = { network: string; wallet: Address; nonce: bigint }

/** Only moves forward: a late note never undoes what is known better. */
export async function markBroadcast(sql: Sql, key: Key, hash: Hex, atMs: number): Promise<void> {
  await sql.query(
    `update settlement_transaction set state = 'broadcast', broadcast_at = $5
     where network = $1 and wallet = $2 and nonce = $3 and hash = $4 and state = 'signed'`,
    [key.network, key.wallet, key.nonce, hash, new Date(atMs)],
  )
}

export async function markAbandoned(sql: Sql, key: Key, hash: Hex, atMs: number): Promise<void> {
  await sql.query(
    `update settlement_transaction set state = 'abandoned', ended_at = $5
     where network = $1 and wallet = $2 and nonce = $3 and hash = $4 and state = 'signed'`,
    [key.network, key.wallet, key.nonce, hash, new Date(atMs)],
  )
}

export type MinedFacts = { hash: Hex; blockNumber: bigint; succeeded: boolean; gasUsed: bigint; costWei: bigint }

export async function markMined(sql: Sql, key: Key, mined: MinedFacts, atMs: number): Promise<void> {
  await sql.query({
    name: 'settlement-transaction-mined',
    text: `update settlement_transaction set state = 'mined', mined_hash = $4, block_number = $5, succeeded = $6, gas_used = $7,
       cost_wei = $8, ended_at = $9, broadcast_at = coalesce(broadcast_at, $9)
     where network = $1 and wallet = $2 and nonce = $3`,
    values: [
      key.network,
      key.wallet,
      key.nonce,
      mined.hash,
      mined.blockNumber,
      mined.succeeded,
      mined.gasUsed,
      mined.costWei.toString(),
      new Date(atMs),
    ],
  })
}

export async function markSuperseded(sql: Sql, key: Key, atMs: number): Promise<void> {
  await sql.query(
    `update settlement_transaction set state = 'superseded', ended_at = $4
     where network = $1 and wallet = $2 and nonce = $3 and state in ('signed','broadcast')`,
    [key.network, key.wallet, key.nonce, new Date(atMs)],
  )
}

export type StoredTransaction = {
  nonce: bigint
  purpose: string
  references: string[]
  state: 'signed' | 'broadcast' | 'mined' | 'superseded' | 'abandoned'
  /** Some version of it was taken by a node. */
  wasBroadcast: boolean
  /** All versions, the newest last. */
  hashes: Hex[]
  raw: Hex
  fees: Fees
  usefulUntil: number | undefined
}

type Row = {
  nonce: bigint
  purpose: string
  reference_ids: string[]
  state: StoredTransaction['state']
  broadcast_at: Date | null
  hash: Hex
  earlier_hashes: Hex[]
  raw: Buffer
  max_fee_wei: string
  priority_fee_wei: string
  useful_until: bigint | null
}

/** What may still be on its way, and, from `fromNonce` on, everything: a reorganisation brings old nonces back. */
export async function unfinishedTransactions(
  sql: Sql,
  network: string,
  wallet: Address,
  fromNonce: bigint,
): Promise<StoredTransaction[]> {
  const { rows } = await sql.query<Row>(
    `select nonce, purpose, reference_ids, state, broadcast_at, hash, earlier_hashes, raw, max_fee_wei, priority_fee_wei, useful_until
     from settlement_transaction
     where network = $1 and wallet = $2 and (nonce >= $3 or state in ('signed','broadcast')) order by nonce`,
    [network, wallet, fromNonce],
  )
  return rows.map((row) => ({
    nonce: BigInt(row.nonce),
    purpose: row.purpose,
    references: row.reference_ids,
    state: row.state,
    wasBroadcast: row.broadcast_at !== null,
    hashes: [...row.earlier_hashes, row.hash],
    raw: toHex(row.raw),
    fees: { maxFeePerGas: BigInt(row.max_fee_wei), maxPriorityFeePerGas: BigInt(row.priority_fee_wei) },
    usefulUntil: row.useful_until === null ? undefined : Number(row.useful_until),
  }))
}

/** What no block has taken yet; a process that died may have sent it. */
export const unfinishedSql = `exists (select from settlement_transaction where state in ('signed','broadcast'))`

export async function walletsWithUnfinished(sql: Sql, network: string): Promise<Set<Address>> {
  const { rows } = await sql.query<{ wallet: Address }>(
    `select distinct wallet from settlement_transaction where network = $1 and state in ('signed','broadcast')`,
    [network],
  )
  return new Set(rows.map((row) => row.wallet))
}

/** The newest nonce of each wallet that a block took within the time in which a block may still be replaced. */
export async function lastMinedNonces(
  sql: Sql,
  network: string,
  wallets: readonly Address[],
  sinceMs: number,
): Promise<Map<Address, bigint>> {
  const { rows } = await sql.query<{ wallet: Address; nonce: bigint }>(
    `select w.wallet, t.nonce from unnest($2::text[]) w (wallet)
     cross join lateral (select nonce, ended_at from settlement_transaction
       where network = $1 and wallet = w.wallet and state = 'mined' order by nonce desc limit 1) t where t.ended_at >= $3`,
    [network, wallets, new Date(sinceMs)],
  )
  return new Map(rows.map(({ wallet, nonce }) => [wallet, BigInt(nonce)]))
}
