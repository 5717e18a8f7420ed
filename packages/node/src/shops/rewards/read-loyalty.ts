import { type Address, checksumAddress } from '@assay/protocol/address'
import { formatUsd } from '@assay/protocol/money'
import { entriesOf } from '@assay/till/ledger'
import type { Sql } from '@assay/till/store/database'
import { rewardAccounts } from './accounts.ts'
import { tierAfter, tierAt } from './earn.ts'
import type { RewardsPolicy } from './policy.ts'
import { pendingPoints, pointBalances } from './redemption-store.ts'

const historyMax = 50

type Row = {
  spent_micro: bigint
  sales: number
  referrals: bigint
  visits: bigint
  referrer: Address | null
  status: 'counted' | 'ignored' | 'reversed' | null
  reason: string | null
  affiliate: Address | null
  affiliate_note: string | null
}

/** Everything about a wallet's points; one that was never seen has zeros. */
export async function readLoyalty(deps: { sql: Sql; policy: RewardsPolicy; baseUrl: string }, wallet: Address) {
  const { sql, policy } = deps
  const { rows } = await sql.query<Row>(
    `select coalesce((select spent_micro from loyalty where wallet = $1), 0) as spent_micro,
       coalesce((select sales from loyalty where wallet = $1), 0) as sales,
       (select count(*) from referral where referrer = $1 and status = 'counted') as referrals,
       coalesce((select visits from referral_visit where referrer = $1), 0) as visits,
       r.referrer, r.status, r.reason,
       (select affiliate from loyalty where wallet = $1) as affiliate,
       (select affiliate_note from loyalty where wallet = $1) as affiliate_note
     from (select 1) one left join referral r on r.wallet = $1`,
    [wallet],
  )
  const row = rows[0] as Row
  const balance = (await pointBalances(sql, [wallet])).get(wallet) ?? 0n
  const pending = (await pendingPoints(sql, [wallet])).get(wallet) ?? 0n
  const tier = tierAt(policy, row.spent_micro)
  const next = tierAfter(policy, tier)
  const usable = balance > pending ? balance - pending : 0n
  return {
    wallet: checksumAddress(wallet),
    points: balance.toString(),
    pending_points: pending.toString(),
    tier: tier.name,
    points_per_usd: tier.pointsPerUsd.toString(),
    spent_usd: formatUsd(row.spent_micro),
    spent_micro: row.spent_micro.toString(),
    sales: row.sales,
    next_tier: next
      ? {
          name: next.name,
          needs_usd: formatUsd(next.fromMicro - row.spent_micro),
          points_per_usd: next.pointsPerUsd.toString(),
        }
      : null,
    referral: {
      link: `${deps.baseUrl}/?ref=${checksumAddress(wallet)}`,
      referred: Number(row.referrals),
      visits: Number(row.visits),
      referred_by:
        row.referrer === null || row.status === null
          ? null
          : { wallet: checksumAddress(row.referrer), status: row.status, reason: row.reason },
    },
    affiliate:
      row.affiliate === null && row.affiliate_note === null
        ? null
        : {
            wallet: row.affiliate === null ? null : checksumAddress(row.affiliate),
            ignored_reason: row.affiliate_note,
          },
    redeemable: policy.rewards.map((reward) => ({
      reward: reward.id,
      what: reward.what,
      points: reward.points.toString(),
      calls: Number(usable / reward.points),
    })),
    history: (await entriesOf(sql, rewardAccounts.points(wallet), { limit: historyMax })).map((entry) => ({
      at: entry.createdAt.toISOString(),
      what: entry.kind,
      points: (-entry.amountMicro).toString(),
    })),
  }
}
