import type { Address } from '@assay/protocol/address'
import type { Micro } from '@assay/protocol/money'
import type { Sale } from '@assay/till'
import { LedgerConflict, type LedgerTransaction, postValues } from '@assay/till/ledger'
import type { Tx } from '@assay/till/store/database'
import type { IgnoredReason } from './attribute.ts'
import type { RewardsPolicy } from './policy.ts'

/** A sale of which the node keeps something. */
export type CountedSale = { sale: Sale; operatorRevenueMicro: Micro; affiliate?: Address; note?: IgnoredReason }

export type LoyaltyRow = {
  wallet: Address
  /** Before this batch. */
  spentBeforeMicro: Micro
  isFirstSale: boolean
  firstSaleAtMs: number
  owes: boolean
  affiliate: Address | undefined
}

const countSql = `
insert into loyalty as l (wallet, spent_micro, sales, first_sale_at, affiliate, affiliate_at, affiliate_note)
  select wallet, micro, sales, sold_at, affiliate, case when affiliate is null then null else sold_at end, note
  from unnest($1::text[], $2::bigint[], $3::integer[], $4::text[], $5::timestamptz[], $6::text[])
    as t (wallet, micro, sales, affiliate, sold_at, note)
  order by wallet
on conflict (wallet) do update set spent_micro = l.spent_micro + excluded.spent_micro, sales = l.sales + excluded.sales,
  affiliate = coalesce(excluded.affiliate, l.affiliate), affiliate_at = coalesce(excluded.affiliate_at, l.affiliate_at),
  affiliate_note = case when excluded.affiliate is null then coalesce(excluded.affiliate_note, l.affiliate_note) end
returning wallet, spent_micro, sales, first_sale_at, owes, affiliate`

type PayerSum = {
  micro: Micro
  sales: number
  affiliate: Address | undefined
  note: IgnoredReason | undefined
  soldAtMs: number
}

/** Adds the sales to their payers' rows and locks these; wallets in order, so that two batches never wait in a circle. */
export async function countSales(tx: Tx, counted: readonly CountedSale[]): Promise<Map<Address, LoyaltyRow>> {
  const sums = new Map<Address, PayerSum>()
  for (const { sale, operatorRevenueMicro, affiliate, note } of counted) {
    const known = sums.get(sale.payer)
    sums.set(sale.payer, {
      micro: (known?.micro ?? 0n) + operatorRevenueMicro,
      sales: (known?.sales ?? 0) + 1,
      affiliate: affiliate ?? known?.affiliate,
      note: note ?? known?.note,
      soldAtMs: known?.soldAtMs ?? sale.settledAtMs,
    })
  }
  const list = [...sums]
  const { rows } = await tx.query<{
    wallet: Address
    spent_micro: bigint
    sales: number
    first_sale_at: Date
    owes: boolean
    affiliate: Address | null
  }>({
    name: 'rewards_count_sales',
    text: countSql,
    values: [
      list.map(([wallet]) => wallet),
      list.map(([, sum]) => sum.micro),
      list.map(([, sum]) => sum.sales),
      list.map(([, sum]) => sum.affiliate ?? null),
      list.map(([, sum]) => new Date(sum.soldAtMs)),
      list.map(([, sum]) => sum.note ?? null),
    ],
  })
  return new Map(
    rows.map((row) => {
      const sum = sums.get(row.wallet) as PayerSum
      return [
        row.wallet,
        {
          wallet: row.wallet,
          spentBeforeMicro: row.spent_micro - sum.micro,
          isFirstSale: row.sales === sum.sales,
          firstSaleAtMs: row.first_sale_at.getTime(),
          owes: row.owes,
          affiliate: row.affiliate ?? undefined,
        },
      ]
    }),
  )
}

export type RewardRow = {
  sale: Sale
  operatorRevenueMicro: Micro
  points: bigint
  needsFinality: boolean
  note: IgnoredReason | undefined
  affiliate: Address | undefined
  affiliateMicro: Micro
  referrer: Address | undefined
  referrerPoints: bigint
  referredPoints: bigint
}

const insertSql = `
insert into reward_sale (payment_id, round, payer, network, route_id, take_micro, points, affiliate, affiliate_micro, affiliate_note,
  affiliate_bps, affiliate_state, matures_at, referrer, referrer_points, referred_points, needs_finality, sold_at)
select payment_id, round, payer, network, route_id, take_micro, points, affiliate, affiliate_micro, note, $1,
  case when affiliate is null then 'none' else 'pending' end,
  case when affiliate is not null then sold_at + $2 * interval '24 hours' end,
  referrer, referrer_points, referred_points, needs_finality, sold_at
from unnest($3::text[], $4::integer[], $5::text[], $6::text[], $7::text[], $8::bigint[], $9::bigint[], $10::text[], $11::bigint[],
  $12::text[], $13::text[], $14::bigint[], $15::bigint[], $16::boolean[], $17::timestamptz[])
  as t (payment_id, round, payer, network, route_id, take_micro, points, affiliate, affiliate_micro, note,
    referrer, referrer_points, referred_points, needs_finality, sold_at)`

const postParameters = Array.from({ length: 13 }, (_, index) => `$${index + 18}`).join(', ')

/** What sales brought, and on which terms of affiliates. */
type Rewards = { rows: readonly RewardRow[]; terms: RewardsPolicy['affiliate'] }

/** The rows and their postings in one statement: its own round trip for each would be most of what a sale hook costs. */
export async function postRewards(tx: Tx, rewards: Rewards, postings: readonly LedgerTransaction[]): Promise<void> {
  if (postings.length === 0)
    await tx.query({ name: 'rewards_insert_sales', text: insertSql, values: rewardValues(rewards) })
  else {
    const { rows: posted } = await tx.query<{ count: bigint }>({
      name: 'rewards_post_sales',
      text: `with made as (${insertSql}) select count(transaction_id) from ledger_post(${postParameters})`,
      values: [...rewardValues(rewards), ...postValues(postings)],
    })
    if (posted[0]?.count !== BigInt(postings.length)) throw new LedgerConflict('a sale is being posted elsewhere')
  }
}

const rewardValues = ({ rows, terms }: Rewards): unknown[] => [
  terms.bps,
  terms.holdDays,
  rows.map(({ sale }) => sale.paymentId),
  rows.map(({ sale }) => sale.round),
  rows.map(({ sale }) => sale.payer),
  rows.map(({ sale }) => sale.network),
  rows.map(({ sale }) => sale.routeId),
  rows.map((row) => row.operatorRevenueMicro),
  rows.map((row) => row.points),
  rows.map((row) => row.affiliate ?? null),
  rows.map((row) => row.affiliateMicro),
  rows.map((row) => row.note ?? null),
  rows.map((row) => row.referrer ?? null),
  rows.map((row) => row.referrerPoints),
  rows.map((row) => row.referredPoints),
  rows.map((row) => row.needsFinality),
  rows.map(({ sale }) => new Date(sale.settledAtMs)),
]
