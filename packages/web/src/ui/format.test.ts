import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ageText, centsOfMicro, count, figure, sentence, shortHex, timeText, usd, usdOfMicro } from './format.ts'

describe('money as people read it', () => {
  test('keeps cents and shows smaller parts only where there are some', () => {
    expect(usdOfMicro('20000')).toBe('$0.02')
    expect(usdOfMicro('1000')).toBe('$0.001')
    expect(usdOfMicro(1_000_000_000n)).toBe('$1,000.00')
    expect(usdOfMicro('-1500000')).toBe('−$1.50')
    expect(centsOfMicro('74950412')).toBe('$74.95')
    expect(centsOfMicro('-74996000')).toBe('−$75.00')
    expect([count(-1500), figure(-2.345), figure(-1500.4)]).toEqual(['−1,500', '−2.35', '−1,500'])
    expect([figure(-0.001), count(-0)]).toEqual(['0', '0'])
    expect(usd('250')).toBe('$250')
    expect(usd('0.05')).toBe('$0.05')
    expect(usd('0.000001')).toBe('$0.000001')
  })
  test('never changes the amount', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n }), (micro) => {
        const [whole = '', part = ''] = usdOfMicro(micro).replaceAll(/[$,]/g, '').replace('−', '-').split('.')
        const back = BigInt(`${whole}${part.padEnd(6, '0')}`)
        expect(back === 0n ? 0n : back).toBe(micro)
      }),
    )
  })
})

test('ages are shown in the largest unit that fits', () => {
  const now = Date.parse('2026-01-10T12:00:00Z')
  expect(ageText('2026-01-07T11:00:00Z', now)).toBe('3 days ago')
  expect(ageText('2026-01-10T14:30:00Z', now)).toBe('in 2 hours')
  expect(ageText('not a time', now)).toBe('not a time')
})

test('names and addresses are shortened for reading', () => {
  expect(timeText('2026-11-13T23:00:00.000Z')).toBe('2026-11-13 23:00:00 UTC')
  expect(sentence('burn_blocked')).toBe('Burn blocked')
  expect(shortHex('0xCDB85fa40BFaB965cBbF874896Bae11406AD86FE')).toBe('0xCDB8…86FE')
})
