import type { Address } from '@assay/till/kernel/address'
import { type Micro, smallerOf } from '@assay/till/kernel/money'
import { type LedgerLine, lockBalances, owedTo } from '@assay/till/ledger'
import type { Tx } from '@assay/till/store/database'
import { accruedAccount, committedAccount, creatorReceivable, shards } from './accrue.ts'
import type { CreatorChain } from './deps.ts'
import type { Claim } from './follow-claims.ts'

type Piece = { shard: number; micro: Micro; line: LedgerLine }

/**
 * A claim above what the creator has in the books proves what a root that a restore took from them had committed to it.
 * That much comes off the creator's open shares, which the same sales had made, and the rest is the creator's debt. While
 * another root is on its way this waits for its end: its leaves were made without knowing.
 */
export async function assignClaimed(tx: Tx, place: CreatorChain, claim: Claim): Promise<LedgerLine[]> {
  const network = place.network.caip2
  const { rows } = await tx.query<{ committed: Micro; signed: boolean }>(
    `select coalesce((select committed_micro from creator_balance where network = $1 and wallet = $2), 0) as committed,
       exists (select from creator_root where network = $1 and state = 'signed') as signed`,
    [network, claim.wallet],
  )
  const beyond = claim.cumulativeMicro - (rows[0]?.committed ?? 0n)
  if (beyond <= 0n) return []
  if (rows[0]?.signed) throw new Error(`a claim of ${claim.wallet} waits for the root that is on its way`)
  await tx.query(
    `update creator_root set unassigned_micro = unassigned_micro - $3 where id = (
       select id from creator_root where network = $1 and contract = $2 and state = 'committed' order by epoch desc limit 1)`,
    [network, place.distributor.address, beyond],
  )
  await tx.query(
    `insert into creator_balance as b (network, wallet, committed_micro, pending_micro) values ($1, $2, $3, $3)
     on conflict (network, wallet) do update set committed_micro = $3, pending_micro = greatest(b.pending_micro, $3)`,
    [network, claim.wallet, claim.cumulativeMicro],
  )
  const pieces = await openShares(tx, network, claim.wallet, beyond)
  await insertCounters(tx, network, claim, pieces)
  return [...pieces.map(({ line }) => line), { account: committedAccount(network, claim.wallet), amount: -beyond }]
}

async function openShares(tx: Tx, network: string, wallet: Address, micro: Micro): Promise<Piece[]> {
  const all = Array.from({ length: shards }, (_, shard) => accruedAccount(network, wallet, shard))
  await lockBalances(tx, all)
  const pieces: Piece[] = []
  let rest = micro
  for (const [shard, account] of all.entries()) {
    const taken = smallerOf(await owedTo(tx, account), rest)
    if (taken <= 0n) continue
    pieces.push({ shard, micro: taken, line: { account, amount: taken } })
    rest -= taken
  }
  if (rest > 0n)
    pieces.push({ shard: 0, micro: rest, line: { account: creatorReceivable(network, wallet), amount: rest } })
  return pieces
}

/** So much less is in the next root of this creator. */
async function insertCounters(tx: Tx, network: string, claim: Claim, pieces: readonly Piece[]): Promise<void> {
  const subject = `claim:${network}:${claim.transaction}:${claim.logIndex}`
  await tx.query(
    `insert into creator_accrual (subject, place, payment_id, source, payer, network, domain, registrable, wallet, shard,
       micro, state, created_at)
     select $1, t.place, $1, 'credit', $2, $3, 'unknown', 'unknown', $2, t.shard, -t.micro, 'accrued', now()
     from unnest($4::smallint[], $5::bigint[]) with ordinality t (shard, micro, place)`,
    [subject, claim.wallet, network, pieces.map(({ shard }) => shard), pieces.map(({ micro }) => micro)],
  )
}
