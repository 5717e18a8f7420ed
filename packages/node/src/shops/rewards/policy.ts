import type { Micro } from '@assay/protocol/money'
import { disputeLimits } from '@assay/till/internal'
import { z } from 'zod'
import { parseMembers, SettingsError, usd } from '../shop-settings.ts'

export const tierNames = ['BRONZE', 'SILVER', 'GOLD', 'PLATINUM'] as const
export type TierName = (typeof tierNames)[number]

export type LoyaltyTier = {
  name: TierName
  /** Reached at this much spent with the node itself. */
  fromMicro: Micro
  /** Points per USD. */
  pointsPerUsd: bigint
}

export type Reward = {
  id: string
  what: string
  /** For one call. */
  points: bigint
  /** A pass replaces the payment of any call of the node's own products up to this price. */
  maxPriceMicro: Micro
}

export type RewardsPolicy = {
  tiers: readonly LoyaltyTier[]
  rewards: readonly Reward[]
  passDays: number
  referral: { referrerPoints: bigint; referredPoints: bigint; capBps: bigint }
  affiliate: {
    bps: bigint
    windowDays: number
    holdDays: number
  }
}

/** A sale can be disputed, and so refunded, until then; the day more is for clocks that differ. */
const refundableDays = disputeLimits.days + 1

const whole = z.number().int().min(0).max(1_000_000_000)

const tierSchema = z.strictObject({ from_usd: usd, points_per_usd: whole })
const rewardSchema = z.strictObject({
  id: z.string().regex(/^[a-z][a-z0-9_]{0,30}$/),
  what: z.string().max(120),
  points: whole.min(1),
  max_price_usd: usd,
})

const schema = z.strictObject({
  // A credit per 0.50, 0.40, 0.30 and 0.20 USD.
  bronze: tierSchema.default({ from_usd: 0n, points_per_usd: 2_000 }),
  silver: tierSchema.default({ from_usd: 5_000_000n, points_per_usd: 2_500 }),
  gold: tierSchema.default({ from_usd: 25_000_000n, points_per_usd: 3_333 }),
  platinum: tierSchema.default({ from_usd: 100_000_000n, points_per_usd: 5_000 }),
  rewards: z
    .array(rewardSchema)
    .min(1)
    .max(20)
    .default([
      { id: 'report', what: 'one call of up to 0.02 USD, such as a token report', points: 400, max_price_usd: 20_000n },
      { id: 'pull', what: 'one call of up to 0.05 USD, such as a live pull', points: 1_000, max_price_usd: 50_000n },
      {
        id: 'vip_pull',
        what: 'one call of up to 0.25 USD, such as a vip pull',
        points: 5_000,
        max_price_usd: 250_000n,
      },
    ]),
  pass_days: whole.min(1).max(366).default(30),
  referrer_points: whole.default(10_000),
  referred_points: whole.default(5_000),
  referral_cap_bps: whole.max(10_000).default(2_500),
  affiliate_bps: whole.max(10_000).default(1_500),
  affiliate_window_days: whole.max(3_650).default(60),
  affiliate_hold_days: whole.max(366).default(refundableDays),
})

/**
 * From the JSON of `REWARDS`. A policy by which buying and redeeming could pay is refused, and one that pays shares of sales
 * which may yet be refunded: only a demo does so.
 */
export function parseRewardsPolicy(given: unknown = {}, { demo = false } = {}): RewardsPolicy {
  const data = parseMembers('REWARDS', schema, given)
  const tier = (name: TierName, { from_usd, points_per_usd }: z.infer<typeof tierSchema>): LoyaltyTier => ({
    name,
    fromMicro: from_usd,
    pointsPerUsd: BigInt(points_per_usd),
  })
  const policy: RewardsPolicy = {
    tiers: [
      tier('BRONZE', data.bronze),
      tier('SILVER', data.silver),
      tier('GOLD', data.gold),
      tier('PLATINUM', data.platinum),
    ],
    rewards: data.rewards.map(({ id, what, points, max_price_usd }) => ({
      id,
      what,
      points: BigInt(points),
      maxPriceMicro: max_price_usd,
    })),
    passDays: data.pass_days,
    referral: {
      referrerPoints: BigInt(data.referrer_points),
      referredPoints: BigInt(data.referred_points),
      capBps: BigInt(data.referral_cap_bps),
    },
    affiliate: {
      bps: BigInt(data.affiliate_bps),
      windowDays: data.affiliate_window_days,
      holdDays: data.affiliate_hold_days,
    },
  }
  const problems = policyProblems(policy)
  if (!demo && policy.affiliate.holdDays < refundableDays)
    problems.push(
      `affiliate_hold_days must be at least ${refundableDays}: until then a sale can be disputed and refunded`,
    )
  if (problems.length > 0) throw new SettingsError(problems.map((text) => `REWARDS: ${text}`))
  return policy
}

/** The most that one point can be worth, in micro-USDC per thousand points. */
export function milliPointWorth(policy: RewardsPolicy): bigint {
  return policy.rewards.reduce((most, reward) => {
    const worth = ceilDivide(reward.maxPriceMicro * 1_000n, reward.points)
    return worth > most ? worth : most
  }, 0n)
}

function policyProblems(policy: RewardsPolicy): string[] {
  const problems: string[] = []
  policy.tiers.forEach((tier, index) => {
    const before = policy.tiers[index - 1]
    if (before ? tier.fromMicro <= before.fromMicro : tier.fromMicro !== 0n)
      problems.push(`${tier.name} must begin above the tier before it, BRONZE at 0`)
  })
  const dearest = policy.tiers.reduce((most, tier) => (tier.pointsPerUsd > most ? tier.pointsPerUsd : most), 0n)
  const pointsBps = ceilDivide(dearest * milliPointWorth(policy) * 10_000n, 1_000n * 1_000_000n)
  const total = pointsBps + policy.referral.capBps + policy.affiliate.bps
  if (total >= 10_000n)
    problems.push(`points, referral and affiliate together give back ${total} of 10000: buying would pay for itself`)
  return problems
}

const ceilDivide = (a: bigint, b: bigint): bigint => (a + b - 1n) / b
