import type { Address } from '@assay/protocol/address'
import { type Micro, smallerOf } from '@assay/protocol/money'
import type { PayoutLeaf } from '@assay/protocol/payout-tree'
import { type LedgerLine, lockBalances, owedTo } from '@assay/till/ledger'
import type { Tx } from '@assay/till/store/database'
import { accruedAccount, committedAccount, creatorReceivable, shards } from './accrue.ts'
import type { LeafRoot } from './store-leaves.ts'

type Piece = { wallet: Address; shard: number; micro: Micro; line: LedgerLine }

/**
 * What an unknown root allots to a creator comes off the creator's open shares, which the same sales had made, and the
 * rest is the creator's debt. Returns the lines that carry it.
 */
export async function setOffLeaves(tx: Tx, root: LeafRoot, leaves: readonly PayoutLeaf[]): Promise<LedgerLine[]> {
  const sums = new Map<Address, Micro>()
  for (const { wallet, micro } of leaves) sums.set(wallet, (sums.get(wallet) ?? 0n) + micro)
  // One order for everybody who locks several wallets.
  const wallets = [...sums].sort(([a], [b]) => (a < b ? -1 : 1))
  const pieces: Piece[] = []
  for (const [wallet, micro] of wallets) pieces.push(...(await openShares(tx, root.network, wallet, micro)))
  await insertCounters(tx, root, pieces)
  return [
    ...pieces.map(({ line }) => line),
    ...wallets.map(([wallet, micro]) => ({ account: committedAccount(root.network, wallet), amount: -micro })),
  ]
}

async function openShares(tx: Tx, network: string, wallet: Address, micro: Micro): Promise<Piece[]> {
  const all = Array.from({ length: shards }, (_, shard) => accruedAccount(network, wallet, shard))
  await lockBalances(tx, all)
  const pieces: Piece[] = []
  let rest = micro
  for (const [shard, account] of all.entries()) {
    const taken = smallerOf(await owedTo(tx, account), rest)
    if (taken <= 0n) continue
    pieces.push({ wallet, shard, micro: taken, line: { account, amount: taken } })
    rest -= taken
  }
  if (rest > 0n)
    pieces.push({ wallet, shard: 0, micro: rest, line: { account: creatorReceivable(network, wallet), amount: rest } })
  return pieces
}

/** So much less is in the next root of these creators. */
async function insertCounters(tx: Tx, { id, network }: LeafRoot, pieces: readonly Piece[]): Promise<void> {
  await tx.query(
    `insert into creator_accrual (subject, place, payment_id, source, payer, network, domain, registrable, wallet, shard,
       micro, state, created_at)
     select $1, t.place, $1, 'credit', t.wallet, $2, 'unknown', 'unknown', t.wallet, t.shard, -t.micro, 'accrued', now()
     from unnest($3::text[], $4::smallint[], $5::bigint[]) with ordinality t (wallet, shard, micro, place)`,
    [
      `root:${id}`,
      network,
      pieces.map(({ wallet }) => wallet),
      pieces.map(({ shard }) => shard),
      pieces.map(({ micro }) => micro),
    ],
  )
}
