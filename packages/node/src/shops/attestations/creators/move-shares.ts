import type { Address } from '@assay/protocol/address'
import type { Micro } from '@assay/protocol/money'
import { balanceOf, lockBalances, mergeLines, owedTo, post } from '@assay/till/ledger'
import type { Tx } from '@assay/till/store/database'
import { accruedAccount, creatorReceivable, shards } from './accrue.ts'
import { byPayment } from './release-waiting.ts'

export type ShareMove = { network: string; domain: string; wallet: Address; to: Address }

type Row = { id: bigint; network: string; payment_id: string; shard: number; micro: Micro }

/**
 * Shares of a domain that are in no root yet go to its new wallet. What belongs to a debt stays: shares that were partly
 * reversed, everything of a wallet that owes, and what its balance no longer covers.
 */
export async function moveShares(tx: Tx, { network, domain, wallet, to }: ShareMove): Promise<number> {
  const all = Array.from({ length: shards }, (_, shard) => accruedAccount(network, wallet, shard))
  await lockBalances(tx, all)
  if ((await balanceOf(tx, creatorReceivable(network, wallet))) > 0n) return 0
  const { rows } = await tx.query<Row>(
    `select id, network, payment_id, shard, micro from creator_accrual a
     where network = $1 and wallet = $2 and coalesce(payee_domain, domain) = $3 and state = 'accrued' and micro > 0
       and not exists (select from creator_accrual c where c.reverses = a.id) order by id for update`,
    [network, wallet, domain],
  )
  const left = new Map<number, Micro>()
  for (const [shard, account] of all.entries()) left.set(shard, await owedTo(tx, account))
  const moved = rows.filter(({ shard, micro }) => {
    const covered = (left.get(shard) ?? 0n) - micro
    if (covered >= 0n) left.set(shard, covered)
    return covered >= 0n
  })
  await tx.query('update creator_accrual set wallet = $2, payee_domain = $3 where id = any($1::bigint[])', [
    moved.map(({ id }) => id),
    to,
    domain,
  ])
  await post(
    tx,
    // Under the name of the payment, so that a refund or a reorg of it takes the share from where it is by then.
    byPayment(moved).map((own) => ({
      reference: `creator_move:${network}:${own.at(-1)?.id}`,
      kind: 'creator_move',
      paymentId: (own[0] as Row).payment_id,
      lines: mergeLines(
        own.flatMap(({ shard, micro }) => [
          { account: accruedAccount(network, wallet, shard), amount: micro },
          { account: accruedAccount(network, to, shard), amount: -micro },
        ]),
      ),
    })),
  )
  return moved.length
}
