import type { Address } from '@assay/protocol/address'
import { type Micro, smallerOf } from '@assay/protocol/money'
import type { Clock } from '@assay/till/kernel/clock'
import { accounts, balanceOf, type LedgerTransaction, lockAccounts, post } from '@assay/till/ledger'
import type { Database, Tx } from '@assay/till/store/database'
import { rewardAccounts } from './accounts.ts'

/** What one affiliate gets of the sales that mature together. */
type Matured = { network: string; affiliate: Address; first: string; sales: bigint; micro: Micro }

const perTransaction = 1_000

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

// A draw of credit has no separate payment row: the money was paid in before.
const matureSql = `
with due as (
  select s.payment_id, s.round from reward_sale s left join payment p on p.id = s.payment_id
  where s.affiliate_state = 'pending' and s.matures_at <= $1 and (p.id is null or p.final)
    and not exists (select from payment_dispute d where d.payment_id = s.payment_id and d.state = 'open')
    and not exists (select from refund r where r.payment_id = s.payment_id and r.state = 'asked')
  order by s.matures_at, s.payment_id limit $2 for update of s skip locked
),
matured as (
  update reward_sale s set affiliate_state = 'payable' from due d where s.payment_id = d.payment_id and s.round = d.round
  returning s.payment_id || '#' || s.round as sale, s.network, s.affiliate,
    div(s.affiliate_micro::numeric * (s.take_micro - s.reversed_micro), s.take_micro) as micro
)
select network, affiliate, min(sale) as first, count(*) as sales, sum(micro)::bigint as micro from matured
group by network, affiliate`

async function matureSome(tx: Tx, nowMs: number): Promise<number> {
  const { rows } = await tx.query<Matured>(matureSql, [new Date(nowMs), perTransaction])
  await lockAccounts(
    tx,
    rows.map((row) => accounts.payable(row.network, row.affiliate, 'affiliate')),
  )
  await post(tx, await postingsOf(tx, rows))
  return Number(rows.reduce((sum, { sales }) => sum + sales, 0n))
}

/** One posting for each affiliate, however many sales it brought: most of what a share costs later. */
async function postingsOf(tx: Tx, rows: readonly Matured[]): Promise<LedgerTransaction[]> {
  const postings: LedgerTransaction[] = []
  for (const { network, affiliate, first, sales, micro } of rows) {
    if (micro === 0n) continue
    const setOff = smallerOf(await balanceOf(tx, accounts.receivable(network, affiliate, 'affiliate')), micro)
    postings.push({
      // Named by the first of them: each matures once.
      reference: `affiliate_matured:${first}`,
      kind: 'affiliate_matured',
      memo: `${sales} sales`,
      lines: [
        { account: rewardAccounts.affiliatePending(network, affiliate), amount: micro },
        ...(setOff > 0n ? [{ account: accounts.receivable(network, affiliate, 'affiliate'), amount: -setOff }] : []),
        ...(micro > setOff
          ? [{ account: accounts.payable(network, affiliate, 'affiliate'), amount: setOff - micro }]
          : []),
      ],
    })
  }
  return postings
}
