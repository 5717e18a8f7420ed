import { createTokenMaker } from '@assay/till/signing'
import { saleReferrers, walletSpending } from '../ports.ts'
import { declareShop, type OpenShop } from '../shop.ts'
import { createVisitCounter } from './count-visits.ts'
import { matureShares } from './mature-shares.ts'
import { createPassEntitlement } from './pass-entitlement.ts'
import { parseRewardsPolicy, type RewardsPolicy } from './policy.ts'
import { createRedeemPoints } from './redeem-points.ts'
import { redeemRoutes } from './redeem-routes.ts'
import { referrers } from './referrers-sql.ts'
import { rewardsRetention } from './retention.ts'
import { reverseSale } from './reverse-sale.ts'
import { rewardSales } from './reward-sales.ts'
import { rewardsVariables } from './settings.ts'
import { spending } from './spending-sql.ts'
import { statusRoutes } from './status-routes.ts'

/** In a demo nobody waits a month to see an affiliate paid. */
const demoDefaults = { affiliate_hold_days: 0 }

export const rewardsShop = declareShop({
  name: 'rewards',
  variables: rewardsVariables,
  migrations: [new URL('./migrations/', import.meta.url)],
  demoRoles: ['affiliate'],
  retention: rewardsRetention,
  configure: ({ REWARDS }, { demo }) =>
    openRewardsShop({ policy: parseRewardsPolicy({ ...(demo ? demoDefaults : {}), ...REWARDS }, { demo }) }),
})

/** Loyalty, referrals, affiliates and redemption. */
export function openRewardsShop({
  policy = parseRewardsPolicy(demoDefaults, { demo: true }),
}: {
  policy?: RewardsPolicy
} = {}): OpenShop {
  return (context) => {
    const ownPayees = new Set([...Object.values(context.payees.pay_to), ...Object.values(context.payees.custody)])
    const passTokens = createTokenMaker(context.rng, 'apass')
    const points = createRedeemPoints({ ...context, policy, tokens: passTokens })
    const passes = createPassEntitlement({ ...context, passTokens })
    const visits = createVisitCounter(context)
    context.ports.offer(saleReferrers, referrers)
    context.ports.offer(walletSpending, spending)
    return {
      routes: [...statusRoutes({ ...context, policy }), ...redeemRoutes({ ...context, policy, points, passTokens })],
      entitlements: [passes],
      saleHooks: [(tx, sales, unposted) => rewardSales({ policy, ownPayees }, tx, sales, unposted)],
      reversalHooks: [reverseSale],
      payoutPurposes: [{ purpose: 'affiliate' }],
      onAttribution: ({ ref }) => {
        if (ref) visits.count(ref)
      },
      jobs: [
        {
          name: 'rewards.mature',
          intervalMs: 5_000,
          work: () => matureShares(context),
          due: `exists (select from reward_sale where affiliate_state = 'pending' and matures_at <= $1)`,
        },
        { name: 'rewards.holds', intervalMs: 30_000, work: () => passes.recover() },
      ],
      stop: () => visits.stop(),
    }
  }
}
