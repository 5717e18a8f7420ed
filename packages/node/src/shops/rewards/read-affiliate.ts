import { type Address, checksumAddress } from '@assay/protocol/address'
import { formatUsd } from '@assay/protocol/money'
import { accounts, balanceOf, owedTo } from '@assay/till/ledger'
import { payoutsOf } from '@assay/till/payouts'
import type { Sql } from '@assay/till/store/database'
import { rewardAccounts } from './accounts.ts'
import type { RewardsPolicy } from './policy.ts'

type Sum = { network: string; pending: bigint; payable: bigint; receivable: bigint }

type AffiliateDeps = { sql: Sql; policy: RewardsPolicy; baseUrl: string; networks: readonly string[] }

/** More are not counted: what an affiliate earned is in the books, and this only says that it has sales. */
export const affiliateSalesMax = 100

export const affiliateRule =
  'the price of a sale; of a sale that is mostly somebody else’s, such as a citation, at most what the node keeps'

/** Totals of an affiliate, never a payer. Earned is what was not reversed: pending, payable, on its way and paid. */
export async function readAffiliate(deps: AffiliateDeps, wallet: Address) {
  const sums = await readSums(deps.sql, deps.networks, wallet)
  const payouts = await payoutsOf(deps.sql, wallet, ['affiliate'], 50)
  const { rows } = await deps.sql.query<{ network: string; sent: bigint; paid: bigint }>(
    `select network, coalesce(sum(amount_micro) filter (where state not in ('paid', 'returned')), 0)::bigint as sent,
       coalesce(sum(amount_micro) filter (where state = 'paid'), 0)::bigint as paid
     from payout where payee = $1 and purpose = 'affiliate' group by network`,
    [wallet],
  )
  const counts = await deps.sql.query<{ sales: bigint }>(
    `select count(*) as sales from (
       select from reward_sale where affiliate = $1 and affiliate_state <> 'reversed' limit $2) counted`,
    [wallet, affiliateSalesMax],
  )
  const networks = [...new Set([...sums.map(({ network }) => network), ...rows.map(({ network }) => network)])].sort()
  const chains = networks.map((network) => {
    const sum = sums.find((one) => one.network === network)
    const out = rows.find((one) => one.network === network)
    const pending = sum?.pending ?? 0n
    const payable = (sum?.payable ?? 0n) + (out?.sent ?? 0n)
    const paid = out?.paid ?? 0n
    const owed = sum?.receivable ?? 0n
    return { network, pending, payable, paid, owed, earned: pending + payable + paid - owed }
  })
  const total = (of: (chain: (typeof chains)[number]) => bigint) => chains.reduce((sum, chain) => sum + of(chain), 0n)
  return {
    wallet: checksumAddress(wallet),
    rate: Number(deps.policy.affiliate.bps) / 10_000,
    rate_of: affiliateRule,
    earned_micro: total((chain) => chain.earned).toString(),
    pending_micro: total((chain) => chain.pending).toString(),
    payable_micro: total((chain) => chain.payable).toString(),
    paid_micro: total((chain) => chain.paid).toString(),
    owed_back_micro: total((chain) => chain.owed).toString(),
    earned_usd: formatUsd(total((chain) => chain.earned)),
    sales: Number(counts.rows[0]?.sales ?? 0n),
    link: `${deps.baseUrl}/?aff=${checksumAddress(wallet)}`,
    chains: chains.map(({ network, pending, payable, paid, earned }) => ({
      network,
      earned_micro: earned.toString(),
      pending_micro: pending.toString(),
      payable_micro: payable.toString(),
      paid_micro: paid.toString(),
    })),
    payouts,
  }
}

/** Accounts are looked up by their names: a pattern would read every account of the books for one affiliate. */
async function readSums(sql: Sql, networks: readonly string[], wallet: Address): Promise<Sum[]> {
  const sums: Sum[] = []
  for (const network of networks) {
    const pending = -(await balanceOf(sql, rewardAccounts.affiliatePending(network, wallet)))
    const payable = await owedTo(sql, accounts.payable(network, wallet, 'affiliate'))
    const receivable = await balanceOf(sql, accounts.receivable(network, wallet, 'affiliate'))
    if (pending !== 0n || payable !== 0n || receivable !== 0n) sums.push({ network, pending, payable, receivable })
  }
  return sums
}
