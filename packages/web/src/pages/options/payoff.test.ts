import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { breakEven, indexRange, profitMicro } from './payoff.ts'

const call = { kind: 'call' as const, strike: 100, paysUpTo: 50, sizeMicro: 10_000_000n, premiumMicro: 80_000_000n }
const put = { ...call, kind: 'put' as const, paysUpTo: 100 }

describe('what a contract brings', () => {
  test('a call earns above its strike, a put below', () => {
    expect(profitMicro(call, 100)).toBe(-80_000_000n)
    expect(profitMicro(call, 110)).toBe(20_000_000n)
    expect(profitMicro(put, 110)).toBe(-80_000_000n)
    expect(profitMicro(put, 90)).toBe(20_000_000n)
  })
  test('it stops earning where it stops paying', () => {
    expect(profitMicro(call, 150)).toBe(profitMicro(call, 400))
  })
  test('break-even is where nothing is won or lost', () => {
    expect(breakEven(call)).toBe(108)
    expect(profitMicro(call, breakEven(call))).toBe(0n)
    expect(profitMicro(put, breakEven(put))).toBe(0n)
  })
  test('never more than the premium is lost, wherever the index goes', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1e6, noNaN: true }), fc.constantFrom(call, put), (index, terms) => {
        expect(profitMicro(terms, index) >= -terms.premiumMicro).toBe(true)
        expect(profitMicro(terms, index) <= terms.sizeMicro * BigInt(terms.paysUpTo) - terms.premiumMicro).toBe(true)
      }),
    )
  })
  test('the picture has strike, break-even and the index of now in it', () => {
    for (const terms of [call, put])
      for (const now of [20, 99, 300]) {
        const [low, high] = indexRange(terms, now)
        for (const mark of [terms.strike, breakEven(terms), now]) expect(mark >= low && mark <= high).toBe(true)
      }
  })
})
