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
  await post(tx, await postingsOf(tx, rows))
  await tx.query(
    `update reward_sale s set affiliate_state = 'payable' from unnest($1::text[], $2::integer[]) t (payment_id, round)
     where s.payment_id = t.payment_id and s.round = t.round`,
    [rows.map((row) => row.payment_id), rows.map((row) => row.round)],
  )
  return rows.length
}

/** One posting for each affiliate, however many sales it brought: most of what a share costs later. */
async function postingsOf(tx: Tx, rows: readonly Due[]): Promise<LedgerTransaction[]> {
  const byAffiliate = new Map<string, [Due, ...Due[]]>()
  for (const row of rows) {
    const key = `${row.network} ${row.affiliate}`
    const known = byAffiliate.get(key)
    if (known) known.push(row)
    else byAffiliate.set(key, [row])
  }
  const postings: LedgerTransaction[] = []
  for (const shares of byAffiliate.values()) {
    const [{ network, affiliate, payment_id: paymentId, round }] = shares
    const micro = shares.reduce((sum, share) => sum + dueMicro(share), 0n)
    if (micro === 0n) continue
    const setOff = smallerOf(await balanceOf(tx, accounts.receivable(network, affiliate, 'affiliate')), micro)
    postings.push({
      // Named by the first of them: each matures once.
      reference: rewardReference('affiliate_matured', { paymentId, round }),
      kind: 'affiliate_matured',
      memo: `${shares.length} sales`,
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

const dueMicro = (share: Due): Micro =>
  (share.affiliate_micro * (share.take_micro - share.reversed_micro)) / share.take_micro
