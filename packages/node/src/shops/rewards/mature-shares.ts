import type { Address } from '@assay/protocol/address'
import { type Micro, smallerOf } from '@assay/protocol/money'
import type { Clock } from '@assay/till/kernel/clock'
import { accounts, balanceOf, type LedgerTransaction, lockAccounts, post } from '@assay/till/ledger'
import type { Database, Tx } from '@assay/till/store/database'
import { rewardAccounts } from './accounts.ts'
import { rewardReference } from './reward-sales.ts'

type Due = {
  payment_id: string
  round: number
  network: string
  affiliate: Address
  affiliate_micro: Micro
  take_micro: Micro
  reversed_micro: Micro
}

const perTransaction = 200

/**
 * Shares whose hold is over and whose payment is final become payable, unless its payer disputes it or a refund of it is
 * under way; what the affiliate owes is set off first.
 */
export async function matureShares(deps: { database: Database; clock: Clock }): Promise<number> {
  let total = 0
  for (;;) {
    const matured = await deps.database.transaction((tx) => matureSome(tx, deps.clock.nowMs()))
    total += matured
    if (matured < perTransaction) return total
  }
}

async function matureSome(tx: Tx, nowMs: number): Promise<number> {
  // A draw of credit has no separate payment row: the money was paid in before.
  const { rows } = await tx.query<Due>(
    `select s.payment_id, s.round, s.network, s.affiliate, s.affiliate_micro, s.take_micro, s.reversed_micro
     from reward_sale s left join payment p on p.id = s.payment_id
     where s.affiliate_state = 'pending' and s.matures_at <= $1 and (p.id is null or p.final)
       and not exists (select from payment_dispute d where d.payment_id = s.payment_id and d.state = 'open')
       and not exists (select from refund r where r.payment_id = s.payment_id and r.state = 'asked')
     order by s.matures_at, s.payment_id limit $2 for update of s skip locked`,
    [new Date(nowMs), perTransaction],
  )
  if (rows.length === 0) return 0
  await lockAccounts(
    tx,
    rows.map((row) => accounts.payable(row.network, row.affiliate, 'affiliate')),
  )
  const owing = await receivables(tx, rows)
  await post(
    tx,
    rows.flatMap((row) => posting(row, owing)),
  )
  await tx.query(
    `update reward_sale s set affiliate_state = 'payable' from unnest($1::text[], $2::integer[]) t (payment_id, round)
     where s.payment_id = t.payment_id and s.round = t.round`,
    [rows.map((row) => row.payment_id), rows.map((row) => row.round)],
  )
  return rows.length
}

const keyOf = (row: Due) => `${row.network} ${row.affiliate}`

async function receivables(tx: Tx, rows: readonly Due[]): Promise<Map<string, Micro>> {
  const owing = new Map<string, Micro>()
  for (const row of rows)
    if (!owing.has(keyOf(row)))
      owing.set(keyOf(row), await balanceOf(tx, accounts.receivable(row.network, row.affiliate, 'affiliate')))
  return owing
}

function posting(row: Due, owing: Map<string, Micro>): LedgerTransaction[] {
  const { network, affiliate } = row
  const micro = (row.affiliate_micro * (row.take_micro - row.reversed_micro)) / row.take_micro
  if (micro === 0n) return []
  const owedMicro = owing.get(keyOf(row)) ?? 0n
  const setOff = smallerOf(owedMicro, micro)
  owing.set(keyOf(row), owedMicro - setOff)
  return [
    {
      reference: rewardReference('affiliate_matured', { paymentId: row.payment_id, round: row.round }),
      kind: 'affiliate_matured',
      paymentId: row.payment_id,
      lines: [
        { account: rewardAccounts.affiliatePending(network, affiliate), amount: micro },
        ...(setOff > 0n ? [{ account: accounts.receivable(network, affiliate, 'affiliate'), amount: -setOff }] : []),
        ...(micro > setOff
          ? [{ account: accounts.payable(network, affiliate, 'affiliate'), amount: setOff - micro }]
          : []),
      ],
    },
  ]
}
