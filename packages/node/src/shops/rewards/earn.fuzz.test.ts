import fc from 'fast-check'
import { expect, test } from 'vitest'
import { affiliateShare, pointsFor, referralPoints, tierAt } from './earn.ts'
import { milliPointWorth, parseRewardsPolicy } from './policy.ts'

const policy = parseRewardsPolicy()
const micro = fc.bigInt({ min: 0n, max: 5_000_000_000n })

/** The most that points can be turned into, in micro-USDC. */
const worthOf = (points: bigint) => (points * milliPointWorth(policy)) / 1_000n

test('tiers begin where the published table says', () => {
  const names = [0n, 4_999_999n, 5_000_000n, 24_999_999n, 25_000_000n, 99_999_999n, 100_000_000n]
  expect(names.map((spent) => tierAt(policy, spent).name)).toEqual([
    'BRONZE',
    'BRONZE',
    'SILVER',
    'SILVER',
    'GOLD',
    'GOLD',
    'PLATINUM',
  ])
})

test('splitting a purchase never brings more points', () => {
  fc.assert(
    fc.property(micro, micro, micro, (before, first, second) => {
      const split = pointsFor(policy, before, first) + pointsFor(policy, before + first, second)
      expect(split).toBeLessThanOrEqual(pointsFor(policy, before, first + second))
    }),
  )
})

test('L3, L34: all that one sale brings to anybody is worth less than the sale', () => {
  fc.assert(
    fc.property(micro, fc.bigInt({ min: 1n, max: 5_000_000_000n }), fc.boolean(), (before, take, isFirst) => {
      const bonus = isFirst ? referralPoints(policy, take) : { referrer: 0n, referred: 0n }
      const points = pointsFor(policy, before, take) + bonus.referrer + bonus.referred
      const share = affiliateShare(policy, take, 0n)
      expect(share).toBeLessThanOrEqual(take)
      expect(worthOf(points) + share).toBeLessThan(take)
    }),
    { numRuns: 2_000 },
  )
})

test('L3: an affiliate gets its part of the toll, never more than the node keeps after its costs', () => {
  // Of citations at 5000, 5001, 4999, 19, 9 and 1 micro-USDC.
  const tolls = [500n, 500n, 499n, 1n, 0n, 0n]
  expect(tolls.map((toll) => affiliateShare(policy, toll, 0n))).toEqual([75n, 75n, 74n, 0n, 0n, 0n])
  const rates = fc.integer({ min: 0, max: 2_000 }).map((bps) => parseRewardsPolicy({ affiliate_bps: bps }))
  fc.assert(
    fc.property(
      rates,
      fc.bigInt({ min: 0n, max: 10n ** 15n }),
      fc.bigInt({ min: 0n, max: 10n ** 15n }),
      (at, take, cost) => {
        const share = affiliateShare(at, take, cost)
        expect(share).toBeGreaterThanOrEqual(0n)
        expect(share).toBeLessThanOrEqual(take > cost ? take - cost : 0n)
      },
    ),
  )
})

type Step =
  | { kind: 'buy'; micro: bigint; referred: boolean; affiliated: boolean }
  | { kind: 'redeem'; times: number }
  | { kind: 'topup'; micro: bigint }
  | { kind: 'refund'; pick: number }

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant('buy' as const),
    micro: fc.bigInt({ min: 1n, max: 1_000_000_000n }),
    referred: fc.boolean(),
    affiliated: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('redeem' as const), times: fc.nat({ max: 20 }) }),
  fc.record({ kind: fc.constant('topup' as const), micro: fc.bigInt({ min: 1n, max: 1_000_000_000n }) }),
  fc.record({ kind: fc.constant('refund' as const), pick: fc.nat() }),
)

/** One person behind buyer, referrer and affiliate, with the rules of the books: what was used is owed, and set off. */
test('no cycle of earning, redeeming, topping up and refunding has a positive sum, whoever is behind the wallets', () => {
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 40 }), (steps) => {
      let spent = 0n
      let points = 0n
      let owed = 0n
      let gained = 0n
      let standing = 0n
      const sales: { micro: bigint; points: bigint; share: bigint }[] = []
      const give = (amount: bigint) => {
        const paidOff = amount < owed ? amount : owed
        owed -= paidOff
        points += amount - paidOff
      }
      for (const step of steps) {
        if (step.kind === 'buy') {
          const bonus =
            step.referred && sales.length === 0 ? referralPoints(policy, step.micro) : { referrer: 0n, referred: 0n }
          const earned = pointsFor(policy, spent, step.micro) + bonus.referrer + bonus.referred
          const share = step.affiliated ? affiliateShare(policy, step.micro, 1_000n) : 0n
          give(earned)
          gained += share
          spent += step.micro
          standing += step.micro
          sales.push({ micro: step.micro, points: earned, share })
        } else if (step.kind === 'redeem') {
          const reward = policy.rewards[1]
          if (!reward) throw new Error('no reward')
          for (let i = 0; i < step.times && points >= reward.points; i += 1) {
            points -= reward.points
            gained += reward.maxPriceMicro
          }
        } else if (step.kind === 'refund' && sales.length > 0) {
          const [sale] = sales.splice(step.pick % sales.length, 1)
          if (!sale) return
          spent -= sale.micro
          standing -= sale.micro
          gained -= sale.share
          const taken = sale.points < points ? sale.points : points
          points -= taken
          owed += sale.points - taken
        }
      }
      // What was used and is owed counts for the house: it is set off before anything new can be used.
      expect(gained - worthOf(owed)).toBeLessThanOrEqual(standing)
    }),
    { numRuns: 1_000 },
  )
})

test('a policy that would pay for itself is refused', () => {
  expect(() => parseRewardsPolicy({ affiliate_bps: 6_000 })).toThrow(/pay for itself/)
  expect(() => parseRewardsPolicy({ platinum: { from_usd: '100', points_per_usd: 20_000 } })).toThrow(/pay for itself/)
  expect(() => parseRewardsPolicy({ silver: { from_usd: '30', points_per_usd: 10 } })).toThrow(/GOLD/)
})
