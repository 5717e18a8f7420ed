import type { Address } from '@assay/protocol/address'
import { type Hex, toHex } from '@assay/protocol/bytes'
import type { Micro } from '@assay/protocol/money'
import type { PayoutLeaf, PayoutTree } from '@assay/protocol/payout-tree'
import { fromHex } from '@assay/till/kernel/bytes'
import type { Sql, Tx } from '@assay/till/store/database'
import { packProof } from './pack-proof.ts'

export type LeafRoot = { id: bigint; network: string; epoch: bigint }

/** With their proofs: a tree is built once, when its root is made or found on the chain. */
export async function insertLeaves(
  tx: Tx,
  root: LeafRoot,
  tree: PayoutTree,
  domains: ReadonlyMap<Hex, string>,
): Promise<void> {
  const { leaves, proofs } = tree
  await tx.query(
    `insert into creator_leaf (root_id, network, epoch, account, domain, wallet, micro, proof)
     select $1, $2, $3, t.account, t.domain, t.wallet, t.micro, t.proof
     from unnest($4::bytea[], $5::text[], $6::text[], $7::bigint[], $8::bytea[]) t (account, domain, wallet, micro, proof)`,
    [
      root.id,
      root.network,
      root.epoch,
      leaves.map(({ account }) => fromHex(account)),
      leaves.map(({ account }) => domains.get(account) ?? null),
      leaves.map(({ wallet }) => wallet),
      leaves.map(({ micro }) => micro),
      proofs.map(packProof),
    ],
  )
}

/** In the order in which the contract takes them. */
export async function readLeaves(sql: Sql, rootId: bigint): Promise<PayoutLeaf[]> {
  const { rows } = await sql.query<{ account: Buffer; wallet: Address; micro: Micro }>(
    'select account, wallet, micro from creator_leaf where root_id = $1 order by account, wallet collate "C"',
    [rootId],
  )
  return rows.map(({ account, ...leaf }) => ({ ...leaf, account: toHex(account) }))
}

/** A committed root's leaves are in the running sums of their wallets. */
export async function addCommitted(tx: Tx, rootId: bigint): Promise<void> {
  await tx.query(
    `insert into creator_balance as b (network, wallet, committed_micro)
     select network, wallet, sum(micro)::bigint from creator_leaf where root_id = $1 group by network, wallet
     on conflict (network, wallet) do update set committed_micro = b.committed_micro + excluded.committed_micro`,
    [rootId],
  )
}
