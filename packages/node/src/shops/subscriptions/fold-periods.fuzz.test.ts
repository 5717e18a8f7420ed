import fc from 'fast-check'
import { expect, test } from 'vitest'
import { foldPeriods, type Purchase } from './fold-periods.ts'
import { type AnyTier, periodMs } from './policy.ts'

const prices = { standardMicro: 250_000_000n, vipMicro: 1_000_000_000n }
const buy = (tier: AnyTier, boughtAtMs: number): Purchase => ({ tier, boughtAtMs, ...prices })
const anyPurchases = fc
  .array(fc.record({ tier: fc.constantFrom<AnyTier>('standard', 'vip'), gapMs: fc.nat({ max: 3 * periodMs }) }), {
    maxLength: 12,
  })
  .map((list) => {
    let nowMs = Date.UTC(2026, 0, 1)
    return list.map(({ tier, gapMs }) => {
      nowMs += gapMs
      return buy(tier, nowMs)
    })
  })

/** What a stretch of time is worth, in micro-USDC times milliseconds of a period. */
const worth = (tier: AnyTier, ms: number) => BigInt(ms) * (tier === 'vip' ? prices.vipMicro : prices.standardMicro)

test('what is bought is never worth more than what was paid, and never loses more than a millisecond a conversion', () => {
  fc.assert(
    fc.property(anyPurchases, (purchases) => {
      let before: bigint = 0n
      purchases.forEach((purchase, index) => {
        const earlier = foldPeriods(purchases.slice(0, index))
        const leftMs = earlier ? Math.max(0, earlier.untilMs - purchase.boughtAtMs) : 0
        before = earlier ? worth(earlier.tier, leftMs) : 0n
        const now = foldPeriods(purchases.slice(0, index + 1))
        if (!now) throw new Error('nothing was bought')
        const after = worth(now.tier, now.untilMs - purchase.boughtAtMs)
        const paid = before + worth(purchase.tier, periodMs)
        expect(after).toBeLessThanOrEqual(paid)
        expect(paid - after).toBeLessThan(prices.vipMicro)
      })
    }),
  )
})

test('L33: a period is 30 x 24 hours over month ends, leap days and the very edge', () => {
  for (const start of [Date.UTC(2026, 0, 31), Date.UTC(2028, 1, 28), Date.UTC(2026, 11, 31, 23, 59, 59, 999)]) {
    expect(foldPeriods([buy('standard', start)])?.untilMs).toBe(start + periodMs)
    const edge = foldPeriods([buy('standard', start), buy('standard', start + periodMs)])
    expect(edge).toEqual({ tier: 'standard', fromMs: start + periodMs, untilMs: start + 2 * periodMs })
    const before = foldPeriods([buy('standard', start), buy('standard', start + periodMs - 1)])
    expect(before).toEqual({ tier: 'standard', fromMs: start, untilMs: start + 2 * periodMs })
  }
})
