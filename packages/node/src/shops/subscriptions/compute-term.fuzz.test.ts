import fc from 'fast-check'
import { expect, test } from 'vitest'
import { computeTerm, type Outage, type Purchase } from './compute-term.ts'
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
        const earlier = computeTerm(purchases.slice(0, index))
        const leftMs = earlier ? Math.max(0, earlier.untilMs - purchase.boughtAtMs) : 0
        before = earlier ? worth(earlier.tier, leftMs) : 0n
        const now = computeTerm(purchases.slice(0, index + 1))
        if (!now) throw new Error('nothing was bought')
        const after = worth(now.tier, now.untilMs - purchase.boughtAtMs)
        const paid = before + worth(purchase.tier, periodMs)
        expect(after).toBeLessThanOrEqual(paid)
        expect(paid - after).toBeLessThan(prices.vipMicro)
      })
    }),
  )
})

test('an upgrade is worth what it cost, whatever of what it was based on was reversed since', () => {
  fc.assert(
    fc.property(
      anyPurchases,
      fc.nat({ max: 2 * periodMs }),
      fc.nat({ max: 3 * periodMs }),
      (earlierPurchases, gapMs, paidMs) => {
        const boughtAtMs = (earlierPurchases.at(-1)?.boughtAtMs ?? Date.UTC(2026, 0, 1)) + gapMs
        const earlier = computeTerm(earlierPurchases)
        const before = earlier ? worth(earlier.tier, Math.max(0, earlier.untilMs - boughtAtMs)) : 0n
        const now = computeTerm([...earlierPurchases, { ...buy('vip', boughtAtMs), kind: 'upgrade', paidMs }])
        const after = now ? worth(now.tier, Math.max(0, now.untilMs - boughtAtMs)) : 0n
        const paid = before + BigInt(paidMs) * (prices.vipMicro - prices.standardMicro)
        expect(after).toBeLessThanOrEqual(paid)
        expect(paid - after).toBeLessThan(2n * prices.vipMicro)
      },
    ),
  )
})

test('L33: a period is 30 x 24 hours over month ends, leap days and the very edge', () => {
  for (const start of [Date.UTC(2026, 0, 31), Date.UTC(2028, 1, 28), Date.UTC(2026, 11, 31, 23, 59, 59, 999)]) {
    expect(computeTerm([buy('standard', start)])?.untilMs).toBe(start + periodMs)
    const edge = computeTerm([buy('standard', start), buy('standard', start + periodMs)])
    expect(edge).toMatchObject({ tier: 'standard', fromMs: start + periodMs, untilMs: start + 2 * periodMs })
    const before = computeTerm([buy('standard', start), buy('standard', start + periodMs - 1)])
    expect(before).toMatchObject({ tier: 'standard', fromMs: start, untilMs: start + 2 * periodMs })
  }
})

const startMs = Date.UTC(2026, 0, 1)
const anyOutages = fc
  .array(
    fc.record({
      gapMs: fc.nat({ max: periodMs }),
      lengthMs: fc.nat({ max: periodMs }),
      down: fc.integer({ min: 1, max: 5 }),
    }),
    {
      maxLength: 8,
    },
  )
  .map((list) => {
    let nowMs = startMs
    return list.map(({ gapMs, lengthMs, down }): Outage => {
      const beganMs = nowMs + gapMs
      nowMs = beganMs + lengthMs
      return { beganMs, endedMs: nowMs, down, of: 5 }
    })
  })

/** Time in which the whole of what was bought could be had, parts counted in proportion, in fifths of a millisecond. */
function served(outages: readonly Outage[], fromMs: number, untilMs: number): number {
  const lost = outages.map(
    ({ beganMs, endedMs, down }) => down * Math.max(0, Math.min(untilMs, endedMs) - Math.max(fromMs, beganMs)),
  )
  return 5 * (untilMs - fromMs) - lost.reduce((sum, one) => sum + one, 0)
}

test('whatever is down and when, a subscriber gets the time that was paid for, to a few milliseconds', () => {
  fc.assert(
    fc.property(anyOutages, fc.integer({ min: 1, max: 4 }), (outages, periods) => {
      const purchases = Array.from({ length: periods }, () => buy('standard', startMs))
      const term = computeTerm(purchases, outages)
      if (!term) throw new Error('nothing was bought')
      // An outage that goes on beyond what is known can only be given back once it is known.
      const known = outages.filter(({ endedMs }) => endedMs <= term.untilMs)
      const all = outages.every(({ beganMs, endedMs }) => endedMs <= term.untilMs || beganMs >= term.untilMs)
      if (!all) return
      expect(Math.abs(served(known, startMs, term.untilMs) - 5 * periods * periodMs)).toBeLessThanOrEqual(
        10 * outages.length,
      )
      expect(term.untilMs - term.extendedMs).toBe(startMs + periods * periodMs)
    }),
  )
})

test('a feed of ten that is down for ten days gives one day back; all of them give ten', () => {
  const day = 86_400_000
  const outage = { beganMs: startMs + day, endedMs: startMs + 11 * day, down: 1, of: 10 }
  expect(computeTerm([buy('vip', startMs)], [outage])?.untilMs).toBe(startMs + periodMs + day)
  expect(computeTerm([buy('vip', startMs)], [{ ...outage, down: 10 }])?.untilMs).toBe(startMs + periodMs + 10 * day)
})

test('an outage before the purchase or after the end gives nothing back', () => {
  const outages = [
    { beganMs: startMs - 1_000, endedMs: startMs, down: 1, of: 1 },
    { beganMs: startMs + periodMs, endedMs: startMs + 2 * periodMs, down: 1, of: 1 },
  ]
  expect(computeTerm([buy('standard', startMs)], outages)).toMatchObject({ untilMs: startMs + periodMs, extendedMs: 0 })
})
