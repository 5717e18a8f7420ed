import type { Address } from '@assay/protocol/address'
import { type Micro, smallerOf } from '@assay/protocol/money'
import type { ChainTransfer } from '@assay/till/chain'
import { accounts, type LedgerLine, mergeLines, post } from '@assay/till/ledger'
import { takePaidTransfer } from '@assay/till/payouts'
import type { Tx } from '@assay/till/store/database'
import { creatorAccounts } from '../accounts.ts'
import { accruedAccount, committedAccount, creatorReceivable } from './accrue.ts'
import type { Advance } from './adopt-root.ts'
import type { CreatorChain, CreatorDeps } from './deps.ts'
import type { SignedRoot } from './follow-root.ts'
import { cancelOut } from './reverse-accruals.ts'
import { addCommitted } from './store-leaves.ts'

/** A final block holds the root and the transfer that backs it: both are posted together. */
export async function commitRoot(
  deps: CreatorDeps,
  place: CreatorChain,
  signed: SignedRoot,
  advance: Advance,
  transfer: ChainTransfer,
): Promise<void> {
  const nowMs = deps.clock.nowMs()
  const reference = `creator_root:${signed.id}`
  await deps.database.transaction(async (tx) => {
    const { rowCount } = await tx.query(
      `update creator_root set state = 'committed', transaction = $2, block_number = $3, opens_at = $4, ended_at = $5
       where id = $1 and state = 'signed'`,
      [signed.id, advance.transaction, advance.blockNumber, advance.opensAt, new Date(nowMs)],
    )
    if (rowCount === 0) return
    const turn = await takePaidTransfer(tx, place.network, transfer, { as: 'creator_root', for: reference }, nowMs)
    await post(tx, [
      {
        reference,
        kind: 'creator_root',
        transfer: turn,
        lines: await rootLines(tx, signed),
      },
    ])
    await tx.query(`update creator_accrual set state = 'committed' where root_id = $1 and state = 'committing'`, [
      signed.id,
    ])
    await addCommitted(tx, signed.id)
  })
  deps.metrics.count('creator_roots', { network: signed.network, outcome: 'committed' })
}

type Gained = { wallet: Address; shard: number; micro: Micro }

/** The debt moves from the books to the contract, and the money with it. */
async function rootLines(tx: Tx, signed: SignedRoot): Promise<LedgerLine[]> {
  const { network, potMicro } = signed
  const { rows } = await tx.query<Gained>(
    `select wallet, shard, sum(micro)::bigint as micro from creator_accrual where root_id = $1 group by wallet, shard
     having sum(micro) <> 0 order by wallet, shard`,
    [signed.id],
  )
  const owed = await balancesOf(tx, network, rows)
  return mergeLines([
    { account: accounts.onchain(network, 'custody'), amount: -potMicro },
    { account: creatorAccounts.distributor(network), amount: potMicro },
    ...rows.flatMap((row) => gainedLines(network, row, owed)),
  ])
}

/**
 * A share comes from the balance in which it was posted; what is missing there was reversed while the root was on its
 * way, so the creator owes it. What was reversed pays such a debt first, and else gives the balance its money again.
 */
function gainedLines(network: string, { wallet, shard, micro }: Gained, owed: Map<string, Micro>): LedgerLine[] {
  const account = accruedAccount(network, wallet, shard)
  const receivable = creatorReceivable(network, wallet)
  const [from, beyond] = micro > 0n ? [account, receivable] : [receivable, account]
  const size = micro > 0n ? micro : -micro
  const covered = smallerOf(owed.get(from.name) ?? 0n, size)
  const sign = micro > 0n ? 1n : -1n
  owed.set(from.name, (owed.get(from.name) ?? 0n) - covered)
  owed.set(beyond.name, (owed.get(beyond.name) ?? 0n) + size - covered)
  return [
    { account: from, amount: sign * covered },
    { account: beyond, amount: sign * (size - covered) },
    { account: committedAccount(network, wallet), amount: -micro },
  ]
}

/** What is owed to each creator in these accounts, and what each of them owes. */
async function balancesOf(tx: Tx, network: string, rows: readonly Gained[]): Promise<Map<string, Micro>> {
  const names = rows.flatMap(({ wallet, shard }) => [
    accruedAccount(network, wallet, shard).name,
    creatorReceivable(network, wallet).name,
  ])
  const { rows: balances } = await tx.query<{ name: string; micro: Micro }>(
    `select a.name, case when a.guarded then (select b.owed_micro from ledger_balance b where b.account_id = a.id)
       else ledger_sum(a.id)::bigint end as micro
     from ledger_account a where a.name = any($1::text[])`,
    [[...new Set(names)]],
  )
  return new Map(balances.map(({ name, micro }) => [name, micro]))
}

/** Provably never: the shares are open again, for the next root. */
export async function abandonRoot(deps: CreatorDeps, signed: SignedRoot): Promise<void> {
  await deps.database.transaction(async (tx) => {
    const { rowCount } = await tx.query(
      `update creator_root set state = 'abandoned', ended_at = $2 where id = $1 and state = 'signed'`,
      [signed.id, new Date(deps.clock.nowMs())],
    )
    if (rowCount === 0) return
    const { rows } = await tx.query<{ id: bigint }>(
      `update creator_accrual set state = 'accrued', root_id = null where root_id = $1 and state = 'committing'
       returning coalesce(reverses, id) as id`,
      [signed.id],
    )
    await cancelOut(
      tx,
      rows.map(({ id }) => id),
    )
    await tx.query('delete from creator_leaf where root_id = $1', [signed.id])
  })
  deps.metrics.count('creator_roots', { network: signed.network, outcome: 'abandoned' })
  deps.log.warn({ network: signed.network, epoch: signed.epoch.toString() }, 'a root of creators was not taken in time')
}
