import { type Micro, shareOf, smallerOf } from '@assay/protocol/money'
import { type LoyaltyTier, milliPointWorth, type RewardsPolicy } from './policy.ts'

const usdMicro = 1_000_000n

/** The tier that this much spent has reached. */
export function tierAt(policy: RewardsPolicy, spentMicro: Micro): LoyaltyTier {
  return policy.tiers.findLast((tier) => spentMicro >= tier.fromMicro) ?? (policy.tiers[0] as LoyaltyTier)
}

export function tierAfter(policy: RewardsPolicy, tier: LoyaltyTier): LoyaltyTier | undefined {
  return policy.tiers[policy.tiers.indexOf(tier) + 1]
}

/** Each dollar earns at the tier it falls into, and the sum is rounded down: splitting a purchase never brings more. */
export function pointsFor(policy: RewardsPolicy, spentBeforeMicro: Micro, operatorRevenueMicro: Micro): bigint {
  const untilMicro = spentBeforeMicro + operatorRevenueMicro
  let weighted = 0n
  policy.tiers.forEach((tier, index) => {
    const end = policy.tiers[index + 1]?.fromMicro ?? untilMicro
    const from = tier.fromMicro > spentBeforeMicro ? tier.fromMicro : spentBeforeMicro
    const to = smallerOf(end, untilMicro)
    if (to > from) weighted += (to - from) * tier.pointsPerUsd
  })
  return weighted / usdMicro
}

/**
 * What both sides of a referral get for the first sale. The bonus is cut so that it is never worth more than its share
 * of that sale: otherwise a wallet could be made for a tenth of a cent and bring fifteen free calls.
 */
export function referralPoints(
  policy: RewardsPolicy,
  operatorRevenueMicro: Micro,
): { referrer: bigint; referred: bigint } {
  const { referrerPoints, referredPoints, capBps } = policy.referral
  const wanted = referrerPoints + referredPoints
  const worth = milliPointWorth(policy)
  if (wanted === 0n || worth === 0n) return { referrer: 0n, referred: 0n }
  const cap = smallerOf(wanted, (shareOf(operatorRevenueMicro, capBps) * 1_000n) / worth)
  const referrer = (referrerPoints * cap) / wanted
  const referred = (referredPoints * cap) / wanted
  return { referrer, referred }
}

/** The affiliate's part of the price, and never more than the node keeps of it. What settling cost is the operator's. */
export function affiliateShare(policy: RewardsPolicy, priceMicro: Micro, operatorRevenueMicro: Micro): Micro {
  return smallerOf(shareOf(priceMicro, policy.affiliate.bps), operatorRevenueMicro)
}

/** What earns points: where most of a sale is somebody else's, what the affiliate leaves of the node's part. */
export function rewardedMicro(payee: 'pay_to' | 'custody', operatorRevenueMicro: Micro, affiliateMicro: Micro): Micro {
  return payee === 'pay_to' ? operatorRevenueMicro : operatorRevenueMicro - affiliateMicro
}
