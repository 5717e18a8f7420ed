import { systemRng } from '@assay/till/kernel/random'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseIntentSettings } from '../intents/settings.ts'
import { createTestClock } from './exchange.fixture.ts'
import { requireBondsPastExpiry } from './open-options.ts'
import { createQuotes } from './quotes.ts'
import { legalAcknowledgement, longestLifeMs, type OptionSettings, parseOptionSettings } from './settings.ts'

const wallet = '0x1111111111111111111111111111111111111111'

test('off by default in production, on in a demo for everybody', () => {
  expect(parseOptionSettings(undefined, false)).toBeUndefined()
  expect(parseOptionSettings({}, false)).toBeUndefined()
  expect(parseOptionSettings({}, true)).toMatchObject({ eligible: 'anyone' })
  expect(parseOptionSettings({ enabled: false }, true)).toBeUndefined()
})

test('production needs the acknowledgement and somebody who may trade, and has no vault by default', () => {
  expect(() => parseOptionSettings({ enabled: true }, false)).toThrow(/acknowledge.*allowlist/)
  expect(() => parseOptionSettings({ enabled: true, acknowledge: 'yes', allowlist: [wallet] }, false)).toThrow(
    /acknowledge/,
  )
  const acknowledge = legalAcknowledgement
  expect(() => parseOptionSettings({ enabled: true, acknowledge }, false)).toThrow(/allowlist/)
  const eligibility_url = 'https://desk.example/eligible'
  expect(parseOptionSettings({ enabled: true, acknowledge, eligibility_url }, false)).toMatchObject({
    eligible: new Set(),
    eligibilityUrl: eligibility_url,
  })
  expect(() => parseOptionSettings({ eligibility_url: 'http://desk.example/eligible' }, false)).toThrow(/https/)
  expect(parseOptionSettings({ eligibility_url }, true)?.eligible).toEqual(new Set())
  const settings = parseOptionSettings({ enabled: true, acknowledge, allowlist: [wallet] }, false)
  expect(settings).toMatchObject({ vaultMicro: 0n, timeScale: 1, cutoffMs: 86_400_000, halfLifeMs: 21_600_000 })
  expect(settings?.eligible).toEqual(new Set([wallet]))
})

test('unknown members and values out of range are refused with their names', () => {
  for (const wrong of [
    { premium_usd: '49' },
    { premium_usd: '121' },
    { clusters: 3 },
    { allowlist: ['nobody'] },
    { expiry_seconds: 90 },
    { eligibility_url: 'ftp://desk.example/eligible' },
    { manipulation_factor: 0 },
    'on',
  ])
    expect(() => parseOptionSettings(wrong, true)).toThrow(/OPTIONS/)
})

test('bonds that count in the index outlast every series that production and a demo list', () => {
  for (const demo of [true, false]) {
    const given = { enabled: true, acknowledge: legalAcknowledgement, allowlist: [wallet] }
    const settings = parseOptionSettings(given, demo) as OptionSettings
    requireBondsPastExpiry(settings, parseIntentSettings({}, demo).bondMs)
    expect(() => requireBondsPastExpiry(settings, longestLifeMs(settings) - 1)).toThrow(/bond_days/)
  }
  const production = parseOptionSettings(
    { enabled: true, acknowledge: legalAcknowledgement, allowlist: [wallet] },
    false,
  ) as OptionSettings
  expect(longestLifeMs(production)).toBe(30 * 86_400_000)
})

test('a quote opens with its own terms, and with nothing else', () => {
  const clock = createTestClock()
  const quotes = createQuotes({ secret: Buffer.alloc(32, 1), clock, rng: systemRng, quoteMs: 60_000 })
  const others = createQuotes({ secret: Buffer.alloc(32, 2), clock, rng: systemRng, quoteMs: 60_000 })
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 10 }),
      fc.bigInt({ min: 1n, max: 10n ** 10n }),
      fc.option(fc.bigInt({ min: 1n, max: 10n ** 9n }), { nil: undefined }),
      fc.nat(),
      (quantity, totalMicro, vaultMicro, flip) => {
        const symbol = 'TC-52-20261204-100-C'
        const { id, terms } = quotes.issue({ symbol, quantity, totalMicro, ...(vaultMicro ? { vaultMicro } : {}) })
        expect(quotes.open(id, symbol, quantity)).toEqual(terms)
        expect(() => others.open(id, symbol, quantity)).toThrow()
        expect(() => quotes.open(id, 'TC-53-20261204-100-C', quantity)).toThrow()
        expect(() => quotes.open(id, symbol, quantity + 1)).toThrow()
        const place = flip % id.indexOf('.')
        const altered = `${id.slice(0, place)}${id[place] === 'A' ? 'B' : 'A'}${id.slice(place + 1)}`
        expect(() => quotes.open(altered, symbol, quantity)).toThrow()
      },
    ),
  )
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(() => quotes.open(text, 'TC-52-20261204-100-C', 1)).toThrow()
    }),
  )
})
