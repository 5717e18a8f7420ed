import type { Address } from '@assay/protocol/address'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { betaCumulative, betaMean, betaQuantile } from './beta.ts'
import { type SeenRow, toEvents } from './collect-events.ts'
import { noEvidence, type RatingEvent, takeIn, type WalletEvidence } from './evidence.ts'
import { type RatingInput, rate } from './rate.ts'

const day = 86_400_000
const start = Date.UTC(2026, 0, 1)
const wallet = `0x${'1'.repeat(40)}` as Address
const shop = `0x${'2'.repeat(40)}` as Address
const other = `0x${'3'.repeat(40)}` as Address

const paid = (
  atMs: number,
  parties: Address[] = [shop],
  attribution: 'counts' | 'self_dealt' | 'unattributed' = 'counts',
) =>
  ({
    kind: 'settled',
    wallet,
    network: 'eip155:8453',
    atMs,
    micro: 250_000n,
    costMicro: 250_000n,
    parties,
    attribution,
  }) as const
const failed = (atMs: number) => ({ kind: 'failed', wallet, network: 'eip155:8453', atMs }) as const

function evidenceOf(events: readonly RatingEvent[]): WalletEvidence {
  const evidence = noEvidence(events[0]?.atMs ?? start)
  for (const event of events) takeIn(evidence, event)
  return evidence
}

const ratingOf = (events: readonly RatingEvent[], more: Partial<RatingInput> = {}) =>
  rate({
    wallet,
    evidence: events.length === 0 ? [] : [evidenceOf(events)],
    clusters: new Map(),
    upheldDisputes: 0,
    nowMs: (events.at(-1)?.atMs ?? start) + 1,
    ...more,
  })

/** One payment a day. */
const habit = (days: number, parties?: Address[]) =>
  Array.from({ length: days }, (_, index) => paid(start + index * day, parties))

test('evidence costs what it weighs: a habit of tiny payments is worth less than one of real ones', () => {
  const tiny = habit(60).map((event) => ({ ...event, micro: 1_000n, costMicro: 1_000n }))
  const [cheap, real] = [ratingOf(tiny)?.score ?? 0, ratingOf(habit(60))?.score ?? 0]
  expect(cheap).toBeLessThan(50)
  expect(real).toBeGreaterThan(60)
  expect(ratingOf([...tiny, failed(start + 60 * day)])?.score).toBeLessThanOrEqual(cheap)
})

test('what creators earn weighs the tenth that stays with the operator: the rest may be the payer’s again', () => {
  const row = (creators: Address[] | null): SeenRow => ({
    ...{ id: 'pay_1', kind: 'payment', state: 'served', reason: null, wallet, network: 'eip155:8453', micro: '5000' },
    ...{ at: '2026-01-01T00:00:00Z', whole: true, payee: shop, route: 'cite.attest', creators, washTraded: null },
    referrers: [],
  })
  const costs = toEvents(shop, new Map(), [row([other]), row(null)]).map(
    (event) => 'costMicro' in event && event.costMicro,
  )
  expect(costs).toEqual([500n, 5_000n])
})

test('a day weighs once, on however many chains it was paid', () => {
  const chain = evidenceOf(Array.from({ length: 30 }, (_, i) => paid(start + i * 60_000, [shop, other])))
  const nowMs = start + day
  const one = rate({ wallet, evidence: [chain], clusters: new Map(), upheldDisputes: 0, nowMs })
  const three = rate({ wallet, evidence: [chain, chain, chain], clusters: new Map(), upheldDisputes: 0, nowMs })
  expect(three?.score).toBe(one?.score)
})

describe('the Beta distribution', () => {
  test('has the values of its closed forms', () => {
    expect(betaMean(5, 1)).toBeCloseTo(5 / 6, 12)
    // Of Beta(n, 1) the share below x is x to the n.
    expect(betaQuantile(0.05, 5, 1)).toBeCloseTo(0.05 ** (1 / 5), 8)
    expect(betaCumulative(0.3, 1, 1)).toBeCloseTo(0.3, 12)
    expect(betaQuantile(0.5, 40, 40)).toBeCloseTo(0.5, 8)
  })

  test('its quantile undoes its cumulative share, for every shape', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 1, max: 2_000, noNaN: true }),
        fc.double({ min: 1, max: 2_000, noNaN: true }),
        fc.double({ min: 0.01, max: 0.99, noNaN: true }),
        (a, b, share) => {
          expect(betaCumulative(betaQuantile(share, a, b), a, b)).toBeCloseTo(share, 4)
        },
      ),
    )
  })
})

test('a wallet without evidence has no rating, and one with nothing but money of its own cluster has none either', () => {
  expect(ratingOf([])).toBeNull()
  expect(ratingOf([paid(start, [shop], 'self_dealt'), paid(start, [], 'unattributed')])).toBeNull()
})

test('the interval narrows with evidence, and its lower end is the score', () => {
  const few = ratingOf(habit(3))
  const many = ratingOf(habit(60))
  if (!few || !many) throw new Error('both have evidence')
  expect(few.score).toBe(few.interval.low)
  expect(many.score).toBeGreaterThan(few.score)
  const width = (rating: typeof few) => (rating.interval.high - rating.interval.low) / rating.interval.high
  expect(width(many)).toBeLessThan(width(few) / 2)
})

test('a thousand payments in a minute weigh less than a week of one a day', () => {
  const burst = Array.from({ length: 1_000 }, (_, index) => paid(start + index))
  const week = habit(7)
  expect(ratingOf(burst)?.score).toBeLessThan(ratingOf(week)?.score ?? 0)
})

test('failed settlements lower it, by their share and not by their number', () => {
  const good = habit(30)
  expect(ratingOf([...good, failed(start + 30 * day)])?.score).toBeLessThan(ratingOf(good)?.score ?? 0)
  const oneInHundred = Array.from({ length: 30 }, (_, index) => [
    ...Array.from({ length: 99 }, () => paid(start + index * day)),
    failed(start + index * day),
  ]).flat()
  const oneInTwo = Array.from({ length: 30 }, (_, index) => [
    paid(start + index * day),
    failed(start + index * day),
  ]).flat()
  expect(ratingOf(oneInHundred)?.score).toBeGreaterThan(2 * (ratingOf(oneInTwo)?.score ?? 0))
})

test('an upheld dispute cannot be drowned in volume', () => {
  const clean = ratingOf(habit(30))
  const disputed = ratingOf(habit(30), { upheldDisputes: 1 })
  expect(disputed?.score).toBeLessThan((clean?.score ?? 0) - 5)
  expect(ratingOf([], { upheldDisputes: 1 })?.score).toBeLessThan(10)
})

test('payments to a wallet that is later found to be of the same cluster lose their weight', () => {
  const events = [...habit(20), ...habit(20, [other])].sort((one, two) => one.atMs - two.atMs)
  const apart = ratingOf(events)
  const together = ratingOf(events, {
    clusters: new Map([
      [wallet, 'cluster'],
      [other, 'cluster'],
    ]),
  })
  expect(apart?.evidence.independent_counterparties).toBe(2)
  expect(together?.evidence.independent_counterparties).toBe(1)
  expect(together?.score).toBeLessThan(apart?.score ?? 0)
})

test('wallets of one cluster are one counterparty', () => {
  const shops = Array.from({ length: 20 }, (_, index) => `0x${(index + 16).toString(16).padStart(40, '0')}` as Address)
  const events = shops.map((party, index) => paid(start + index * day, [party]))
  const relatedGroups = new Map(shops.map((party) => [party, 'one funder']))
  expect(ratingOf(events, { clusters: relatedGroups })?.evidence.independent_counterparties).toBe(1)
})

test('age without activity is worth little', () => {
  const sleeper = ratingOf([paid(start)], { nowMs: start + 700 * day })
  const active = ratingOf(habit(100))
  const tenure = (rating: typeof sleeper) => rating?.components.find((one) => one.id === 'tenure')?.value ?? 0
  expect(tenure(sleeper)).toBeLessThan(0.1)
  expect(tenure(active)).toBeGreaterThan(0.6)
})

test('self-dealing never raises a rating, whatever else happened', () => {
  const event = fc.record({ atMs: fc.integer({ min: start, max: start + 90 * day }), good: fc.boolean() })
  fc.assert(
    fc.property(
      fc.array(event, { maxLength: 30 }),
      fc.array(event, { minLength: 1, maxLength: 30 }),
      (real, washTraded) => {
        const honest = real.map(({ atMs, good }) => (good ? paid(atMs) : failed(atMs)))
        const own = washTraded.map(({ atMs }) => paid(atMs, [other], 'self_dealt'))
        const ordered = (events: RatingEvent[]) => events.sort((one, two) => one.atMs - two.atMs)
        const nowMs = start + 91 * day
        const before = ratingOf(ordered([...honest]), { nowMs })
        const after = ratingOf(ordered([...honest, ...own]), { nowMs })
        expect(after?.score).toBe(before?.score)
      },
    ),
  )
})

test('a refund subtracts what its payment added', () => {
  const undone = { ...paid(start + day), kind: 'undone', reason: 'refund', whole: true } as const
  const evidence = evidenceOf([paid(start), paid(start + day), undone])
  expect(evidence.tally).toMatchObject({ settled: 1, refunded: 1, settledMicro: 250_000n })
  expect(evidence.parties.get(shop)).toMatchObject({ settled: 1, micro: 250_000n, weight: 1, dayCount: 0 })
})

test('scores stay between 0 and 100 and inside their interval', () => {
  const event = fc.record({ days: fc.integer({ min: 0, max: 400 }), good: fc.boolean() })
  fc.assert(
    fc.property(
      fc.array(event, { minLength: 1, maxLength: 200 }),
      fc.integer({ min: 0, max: 5 }),
      (events, disputes) => {
        const ordered = events
          .map(({ days, good }) => (good ? paid(start + days * day) : failed(start + days * day)))
          .sort((one, two) => one.atMs - two.atMs)
        const rating = ratingOf(ordered, { upheldDisputes: disputes })
        expect(rating?.interval.low).toBeGreaterThanOrEqual(0)
        expect(rating?.interval.high).toBeLessThanOrEqual(100)
        expect(rating?.interval.low).toBeLessThanOrEqual(rating?.interval.high ?? -1)
      },
    ),
  )
})
