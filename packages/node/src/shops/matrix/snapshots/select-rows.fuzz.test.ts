import fc from 'fast-check'
import { expect, test } from 'vitest'
import { pageOf } from './page.ts'
import { parseFilter, parseSort } from './select-rows.ts'
import { sampleSnapshot } from './snapshot.fixture.ts'

const figure = fc.option(fc.integer({ min: 0, max: 9 }))
const rowsOf = (figures: readonly (readonly [number | null, number | null])[]) =>
  figures.map(([days, shares], index) => ({
    symbol: `S${index}`,
    values: { days_to_cover: days },
    vip: { shares_outstanding: shares },
  }))
const snapshotOf = (figures: Parameters<typeof rowsOf>[0]) =>
  sampleSnapshot('short-interest', 'assay-short-interest-1', rowsOf(figures))

test('pages of a sorted and filtered pull have exactly the rows that meet the conditions, in order, unknown ones last', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(figure, figure), { maxLength: 30 }),
      fc.nat({ max: 9 }),
      fc.integer({ min: 1, max: 7 }),
      fc.boolean(),
      (figures, least, limit, descending) => {
        const snapshot = snapshotOf(figures)
        const query = {
          limit,
          vip: true,
          sort: `${descending ? '-' : ''}days_to_cover`,
          filter: `shares_outstanding>=${least}`,
        }
        const seen: number[] = []
        let cursor: string | undefined
        do {
          const page = pageOf(snapshot, { ...query, ...(cursor === undefined ? {} : { cursor }) })
          expect(page.rows.length).toBeLessThanOrEqual(limit)
          seen.push(...page.rows)
          cursor = page.nextCursor ?? undefined
        } while (cursor !== undefined)
        const days = (row: number) => figures[row]?.[0] ?? (descending ? -1 : 10)
        const expected = figures
          .flatMap(([, shares], row) => (shares !== null && shares >= least ? [row] : []))
          .sort((a, b) => (descending ? days(b) - days(a) : days(a) - days(b)) || a - b)
        expect(seen).toEqual(expected)
      },
    ),
    { numRuns: 80 },
  )
})

test('an unknown value meets no condition, not even that it differs', () => {
  const snapshot = snapshotOf([
    [null, 1],
    [2, 1],
    [3, null],
  ])
  const rows = (filter: string) => pageOf(snapshot, { limit: 10, vip: true, filter }).rows
  expect(rows('days_to_cover!=3')).toEqual([1])
  expect(rows('days_to_cover<9')).toEqual([1, 2])
  expect(rows('symbol!=S1')).toEqual([0, 2])
  expect(rows('kind=share,days_to_cover>2')).toEqual([2])
})

test('a column of another tier, an unknown one and a text compared as a number are refused with the columns there are', () => {
  const snapshot = snapshotOf([[1, 1]])
  const ask = (query: { sort?: string; filter?: string }) => () => pageOf(snapshot, { limit: 1, vip: false, ...query })
  expect(ask({ filter: 'shares_outstanding>1' })).toThrow('no column shares_outstanding')
  expect(ask({ sort: '-beauty' })).toThrow('no column beauty')
  expect(ask({ filter: 'symbol>A' })).toThrow('is a text')
  expect(ask({ filter: 'days_to_cover>many' })).toThrow('is a number')
})

test('more than ten conditions or three columns are refused before anything is checked', () => {
  const conditions = (count: number) => Array.from({ length: count }, (_, i) => `days_to_cover>${i}`).join()
  expect(parseFilter(conditions(10))).toHaveLength(10)
  expect(parseFilter(conditions(11))).toBeUndefined()
  expect(parseSort('symbol,-rank,kind')).toHaveLength(3)
  expect(parseSort('symbol,-rank,kind,name')).toBeUndefined()
})
