import { createHash, randomBytes } from 'node:crypto'
import type { Shard } from './server.ts'

/** One claim: who pays, and the nonce that may be used once. */
export type Claim = { payer: Buffer; nonce: Buffer }

export const batch = 32

/** The table of claims as the node has it, cut by payer: the unique key holds the payer, so each part guards its own. */
export async function createClaims(shard: Shard, partitions: number): Promise<void> {
  await shard.pool.query('drop table if exists claim')
  const columns = `network text not null, asset bytea not null, payer bytea not null, nonce bytea not null,
    amount_micro bigint not null, owner bigint not null, claimed_at timestamptz not null default now(),
    unique (network, asset, payer, nonce)`
  if (partitions === 0) {
    await shard.pool.query(`create table claim (${columns})`)
    return
  }
  await shard.pool.query(`create table claim (${columns}) partition by hash (payer)`)
  for (let part = 0; part < partitions; part += 1)
    await shard.pool.query(
      `create table claim_${part} partition of claim for values with (modulus ${partitions}, remainder ${part})`,
    )
}

const network = 'eip155:8453'
const asset = Buffer.alloc(20, 7)
const claimSql = `insert into claim (network, asset, payer, nonce, amount_micro, owner)
  select $1, $2, payer, nonce, 1000, 1 from unnest($3::bytea[], $4::bytea[]) c (payer, nonce)
  on conflict do nothing returning nonce`

/** How many of them were new: group commit, as the node claims. */
export async function claimAll(shard: Shard, claims: readonly Claim[]): Promise<number> {
  const values = [network, asset, claims.map(({ payer }) => payer), claims.map(({ nonce }) => nonce)]
  return (await shard.pool.query({ name: 'claim', text: claimSql, values })).rowCount ?? 0
}

const payers = Array.from({ length: 4_096 }, (_, index) =>
  createHash('sha256').update(`${index}`).digest().subarray(0, 20),
)

/** Claims of random payers that all live on one of the shards. */
export function newClaims(shardIndex: number, shards: number): Claim[] {
  const claims: Claim[] = []
  while (claims.length < batch) {
    const payer = payers[randomBytes(2).readUInt16BE() % payers.length] as Buffer
    if (shardOf(payer, shards) === shardIndex) claims.push({ payer, nonce: randomBytes(32) })
  }
  return claims
}

/** Which server has the word on a payer. Any process can work it out; none has to ask. */
export const shardOf = (payer: Buffer, shards: number): number => payer.readUInt32BE() % shards
