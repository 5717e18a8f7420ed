import fc from 'fast-check'
import { expect, test } from 'vitest'
import { affiliateShare, pointsFor, referralPoints, rewardedMicro, tierAt } from './earn.ts'
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

/** All of a sale is the node's own, or a part of it is. */
const keptPart = fc.oneof(
  fc.constant({ payee: 'pay_to' as const, bps: 10_000n }),
  fc.bigInt({ min: 0n, max: 10_000n }).map((bps) => ({ payee: 'custody' as const, bps })),
)

test('L3, L34: all that one sale brings to anybody is worth less than the sale', () => {
  fc.assert(
    fc.property(
      micro,
      fc.bigInt({ min: 1n, max: 5_000_000_000n }),
      fc.boolean(),
      keptPart,
      (before, price, isFirst, part) => {
        const take = (price * part.bps) / 10_000n
        const share = affiliateShare(policy, price, take)
        const earning = rewardedMicro(part.payee, take, share)
        const bonus = isFirst ? referralPoints(policy, earning) : { referrer: 0n, referred: 0n }
        const points = pointsFor(policy, before, earning) + bonus.referrer + bonus.referred
        expect(share).toBeLessThanOrEqual(take)
        // Anyone who is behind buyer, creator, referrer and affiliate gets no more out than was paid in.
        expect(worthOf(points) + share + (price - take)).toBeLessThanOrEqual(price)
      },
    ),
    { numRuns: 2_000 },
  )
})

test('L3: an affiliate gets 0.15 of the price, never more than the node keeps of it', () => {
  const own = [250_000_000n, 1_000n, 50_000n, 6n]
  expect(own.map((price) => affiliateShare(policy, price, price))).toEqual([37_500_000n, 150n, 7_500n, 0n])
  // Citations of which the node keeps a tenth, a top-up of which it keeps nothing.
  expect(affiliateShare(policy, 5_000n, 500n)).toBe(500n)
  expect(affiliateShare(policy, 5_000_000n, 0n)).toBe(0n)
  const rates = fc.integer({ min: 0, max: 2_000 }).map((bps) => parseRewardsPolicy({ affiliate_bps: bps }))
  fc.assert(
    fc.property(
      rates,
      fc.bigInt({ min: 0n, max: 10n ** 15n }),
      fc.bigInt({ min: 0n, max: 10n ** 15n }),
      (at, price, take) => {
        const share = affiliateShare(at, price, take)
        expect(share).toBeGreaterThanOrEqual(0n)
        expect(share).toBeLessThanOrEqual(take)
        expect(share).toBeLessThanOrEqual(price)
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
test('no cycle of earning, redeeming, topping up and refunding has a positive sum, whatever the owners of the wallets', () => {
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 40 }), (steps) => {
      let spent = 0n
      let points = 0n
      let owed = 0n
      let gained = 0n
      let unreversed = 0n
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
          const share = step.affiliated ? affiliateShare(policy, step.micro, step.micro) : 0n
          give(earned)
          gained += share
          spent += step.micro
          unreversed += step.micro
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
          unreversed -= sale.micro
          gained -= sale.share
          const taken = sale.points < points ? sale.points : points
          points -= taken
          owed += sale.points - taken
        }
      }
      // What was used and is owed counts for the seller: it is set off before anything new can be used.
      expect(gained - worthOf(owed)).toBeLessThanOrEqual(unreversed)
    }),
    { numRuns: 1_000 },
  )
})

test('a policy that would pay for itself is refused', () => {
  expect(() => parseRewardsPolicy({ affiliate_bps: 6_000 })).toThrow(/pay for itself/)
  expect(() => parseRewardsPolicy({ platinum: { from_usd: '100', points_per_usd: 20_000 } })).toThrow(/pay for itself/)
  expect(() => parseRewardsPolicy({ silver: { from_usd: '30', points_per_usd: 10 } })).toThrow(/GOLD/)
})

test('a policy that pays shares of sales which may yet be refunded is refused outside a demo', () => {
  expect(() => parseRewardsPolicy({ affiliate_hold_days: 30 })).toThrow(/at least 31/)
  expect(parseRewardsPolicy({ affiliate_hold_days: 30 }, { demo: true }).affiliate.holdDays).toBe(30)
  expect(parseRewardsPolicy({ affiliate_hold_days: 40 }).affiliate.holdDays).toBe(40)
})
