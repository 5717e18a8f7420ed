import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fromDayNumber, toDayNumber } from '../calendar/dates.ts'
import { sampleNowMs } from '../demo/sample-files.fixture.ts'
import { gunzipWithin } from '../reading/gunzip.ts'
import { FileRefused } from '../reading/refused.ts'
import { recogniseSource } from './catalogue.ts'
import { type FieldName, fieldNames, parseFields } from './vendor-fields.ts'

const parse = (text: string, name = 'fields.csv') => parseFields({ name, bytes: Buffer.from(text), nowMs: sampleNowMs })

const codeOf = (text: string, name?: string) => {
  try {
    parse(text, name)
  } catch (error) {
    if (error instanceof FileRefused) return error.code
    throw error
  }
  return 'taken'
}

const field = fc.constantFrom(...fieldNames)
const figure = fc.option(fc.integer({ min: 0, max: 10_000 }).map((cents) => cents / 100))
const tables = fc.record({
  columns: fc.uniqueArray(field, { minLength: 1 }),
  rows: fc.uniqueArray(
    fc.record({
      ticker: fc.stringMatching(/^[A-Z]{1,5}$/),
      day: fc.integer({ min: toDayNumber('2026-01-05'), max: toDayNumber('2026-11-10') }),
      figures: fc.array(figure, { minLength: 4, maxLength: 4 }),
      hours: fc.integer({ min: 24, max: 96 }),
    }),
    { minLength: 1, maxLength: 12, selector: ({ ticker, day }) => `${ticker} ${day}` },
  ),
})

test('whatever columns, days and order a file has, its figures come back, and it is public when its last row is', () => {
  fc.assert(
    fc.property(tables, ({ columns, rows }) => {
      const momentOf = ({ day, hours }: (typeof rows)[number]) => day * 86_400_000 + hours * 3_600_000
      const lines = rows.map((row) =>
        [
          row.ticker,
          fromDayNumber(row.day),
          new Date(momentOf(row)).toISOString(),
          ...columns.map((_, place) => row.figures[place] ?? ''),
        ].join(','),
      )
      const text = `ticker,date,published_at,${columns.join(',')}\n${lines.join('\n')}\n`
      const known = rows.filter(({ figures }) => columns.some((_, place) => figures[place] !== null))
      if (known.length === 0) {
        expect(codeOf(text)).toBe('empty')
        return
      }
      const read = parse(text)
      expect(recogniseSource('a', Buffer.from(text)).id).toBe('vendor-fields')
      expect(read.stampedAtMs).toBe(Math.max(...rows.map(momentOf)))
      expect(read.skipped['no figure']).toBe(rows.length - known.length)
      const back = read.rows.symbols.map((symbol, i) => [
        symbol,
        read.rows.days[i],
        ...columns.map((name) => read.rows.numbers[name]?.[i]),
      ])
      expect(back).toEqual(
        known.map(({ ticker, day, figures }) => [
          ticker,
          day,
          ...columns.map((_, place) => figures[place] ?? Number.NaN),
        ]),
      )
    }),
    { numRuns: 60 },
  )
})

const head = 'ticker,date,published_at,utilisation_pct'
const row = 'GME,2026-11-12,2026-11-13T12:30:00Z,97.5'

test('what cannot be trusted is refused, with the reason', () => {
  const cases: [text: string, code: string, name?: string][] = [
    [`${head}\n${row}\n`, 'taken'],
    ['ticker,date,utilisation_pct\nGME,2026-11-12,97.5\n', 'taken', 'fields-20261112.csv'],
    ['ticker,utilisation_pct\nGME,97.5\n', 'header'],
    ['ticker,date,published_at\nGME,2026-11-12,2026-11-13T12:30:00Z\n', 'header'],
    ['ticker,date,utilization_pct\nGME,2026-11-12,97.5\n', 'header'],
    ['ticker,date,utilisation_pct,utilisation_pct\nGME,2026-11-12,97.5,1\n', 'header'],
    [`${head}\n${row}\n${row}\n`, 'duplicate'],
    [`${head}\n${row}\n${row.replace('97.5', '3')}\n`, 'duplicate'],
    [`${head}\n${row.slice(0, -2)}`, 'row'],
    [`${head}\n${row.replace(',97.5', '')}\n`, 'row'],
    [`${head}\n${row.replace('97.5', '9e1')}\n`, 'number'],
    [`${head}\n${row.replace('2026-11-13T', '2026-11-11T')}\n`, 'date'],
    [`${head}\n${row.replace('2026-11-13T12:30:00Z', '2026-11-13')}\n`, 'date'],
    [`${head}\n${row.replace('2026-11-13T', '2026-12-13T')}\n`, 'future_date'],
    [`${head}\n${row.replaceAll('2026-11', '2027-11')}\n`, 'future_date'],
    [`${head}\n${row}\n`, 'date', 'fields-20261113.csv'],
    [`${head}\n`, 'empty'],
    ['<!doctype html><html><body>Log in</body></html>\n', 'html'],
  ]
  for (const [text, code, name] of cases) expect([text, codeOf(text, name)]).toEqual([text, code])
})

test('a row that cannot be true is left out and counted, and the rest is taken', () => {
  const rows = ['AMC,100.01', 'BB,-1', 'GME,97.5', 'not a symbol!,5', 'KOSS,'].map((cells) =>
    cells.replace(',', ',2026-11-12,'),
  )
  const read = parse(`ticker,date,utilisation_pct\n${rows.join('\n')}\n`)
  expect([read.rows.symbols, read.skipped]).toEqual([
    ['GME'],
    { 'not a symbol': 1, 'no figure': 1, 'out of bounds': 2 },
  ])
})

test('cut off as gzip it is refused wherever the cut is', () => {
  const whole = gzipSync(Buffer.from(`${head}\n${row}\n`))
  for (let length = 2; length < whole.length; length += 1)
    expect(() => gunzipWithin(whole.subarray(0, length), 1_000_000)).toThrow(FileRefused)
})

test('two vendors of different fields do not correct each other', () => {
  const partOf = (name: FieldName) => parse(`ticker,date,${name}\nGME,2026-11-12,5\n`).part
  expect(new Set(fieldNames.map(partOf)).size).toBe(fieldNames.length)
})
