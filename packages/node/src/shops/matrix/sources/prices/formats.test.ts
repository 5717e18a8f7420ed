import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { FileRefused } from '../../reading/refused.ts'
import { recogniseSource } from '../catalogue.ts'
import type { ParsedFile } from '../source.ts'
import { polygonDay, stooqDay } from './sample-days.fixture.ts'

const nowMs = Date.parse('2026-11-15T12:00:00Z')

function parse(name: string, text: string): ParsedFile {
  const bytes = Buffer.from(text)
  const source = recogniseSource(name, bytes)
  expect(source.id).toBe('prices')
  return source.parse({ name, bytes, nowMs })
}

const closesOf = ({ rows }: ParsedFile) =>
  Object.fromEntries(rows.symbols.map((symbol, i) => [symbol, rows.numbers.close?.[i]]))

/** The same three bars as each vendor writes them, and a fourth without a close. */
const days: [string, string, (last: string) => string][] = [
  [
    'own csv',
    'prices-20261113.csv',
    (last) =>
      `ticker,date,open,high,low,close,volume\nAAPL,2026-11-13,1,2,1,1.5,100\nBRK-B,2026-11-13,400,410,399,405.25,10.5\nGME,2026-11-13,,,,20,0\nZZZ,2026-11-13,1,1,1,${last},5\n`,
  ],
  [
    'stooq',
    'stooq-20261113.txt',
    (last) =>
      `<TICKER>,<PER>,<DATE>,<TIME>,<OPEN>,<HIGH>,<LOW>,<CLOSE>,<VOL>,<OPENINT>\r\nAAPL.US,D,20261113,000000,1,2,1,1.5,100,0\r\nBRK-B.US,D,20261113,000000,400,410,399,405.25,10.5,0\r\nGME.US,D,20261113,000000,,,,20,0,0\r\nZZZ.US,D,20261113,000000,1,1,1,${last},5,0\r\n`,
  ],
  [
    'polygon',
    'polygon-20261113.json',
    (last) => {
      const t = Date.parse('2026-11-13T21:00:00Z')
      const results = [
        { T: 'AAPL', o: 1, h: 2, l: 1, c: 1.5, v: 100, t },
        { T: 'BRK.B', o: 400, h: 410, l: 399, c: 405.25, v: 10.5, t },
        { T: 'GME', c: 20, v: 0, t },
        { T: 'ZZZ', o: 1, h: 1, l: 1, c: last === '' ? null : Number(last), v: 5, t },
      ]
      return JSON.stringify({ adjusted: false, queryCount: 4, results, resultsCount: 4, status: 'OK' })
    },
  ],
  [
    'eodhd',
    'eodhd-20261113.json',
    (last) =>
      JSON.stringify(
        [
          ['AAPL', 1, 2, 1, 1.5, 100],
          ['BRK-B', 400, 410, 399, 405.25, 10.5],
          ['GME', null, null, null, 20, 0],
          ['ZZZ', 1, 1, 1, last === '' ? null : Number(last), 5],
        ].map(([code, open, high, low, close, volume]) => ({
          code,
          exchange_short_name: 'US',
          date: '2026-11-13',
          open,
          high,
          low,
          close,
          adjusted_close: close,
          volume,
        })),
      ),
  ],
]

describe.each(days)('%s', (_vendor, name, write) => {
  test('bars are read with the date they describe', () => {
    const parsed = parse(name, write('7'))
    expect(closesOf(parsed)).toEqual({ AAPL: 1.5, 'BRK.B': 405.25, GME: 20, ZZZ: 7 })
    expect(parsed).toMatchObject({ part: 'daily', period: '2026-11-13', asOf: '2026-11-13' })
    expect(parsed.rows.numbers.open?.[2]).toBeNaN()
  })

  test('an empty close leaves out its row and is counted; the file stays', () => {
    const parsed = parse(name, write(''))
    expect(Object.keys(closesOf(parsed))).toEqual(['AAPL', 'BRK.B', 'GME'])
    expect(parsed.skipped).toEqual({ 'not a symbol': 0, 'no price': 1, negative: 0 })
  })

  test('a file of another day than its name says, of the future, or cut off is refused', () => {
    expect(() => parse(name.replace('20261113', '20261112'), write('7'))).toThrow('is named for')
    expect(() => parse(name, write('7').slice(0, -4))).toThrow(FileRefused)
    const later = write('7')
      .replaceAll('2026-11-13', '2026-11-20')
      .replaceAll('20261113', '20261120')
      .replaceAll(String(Date.parse('2026-11-13T21:00:00Z')), String(Date.parse('2026-11-20T21:00:00Z')))
    expect(() => parse(name.replace('20261113', ''), later)).toThrow('not come yet')
  })
})

test('a day of which no row has a close is refused as empty, such as a holiday', () => {
  const text = 'ticker,date,open,high,low,close,volume\nAAPL,2026-11-13,,,,,\nGME,2026-11-13,,,,,\n'
  expect(() => parse('prices-20261113.csv', text)).toThrow('of 2 rows none has')
  const none = JSON.stringify({ adjusted: false, queryCount: 0, resultsCount: 0, status: 'OK' })
  expect(() => parse('polygon-20261113.json', none)).toThrow('of 0 rows none has')
})

test('a vendor that answers with an error, a wrong count or a bar twice is refused', () => {
  const cases = [
    { status: 'NOT_AUTHORIZED', message: 'upgrade' },
    { ...JSON.parse(polygonDay('2026-11-13')), resultsCount: 1 },
    { status: 'OK', resultsCount: 1, results: [{ T: 'AAPL' }] },
  ]
  for (const body of cases) expect(() => parse('polygon-20261113.json', JSON.stringify(body))).toThrow(FileRefused)
  const twice = `${stooqDay('2026-11-13')}AAPL.US,D,20261113,000000,1,1,1,1,1,0\n`
  expect(() => parse('stooq-20261113.txt', twice)).toThrow('occurs twice')
  expect(() => parse('stooq-20261113.txt', stooqDay('2026-11-13').replace(',D,', ',5,'))).toThrow('no daily bar')
})

test('other markets in a file of all markets are left out and counted', () => {
  const parsed = parse('stooq-20261113.txt', `${stooqDay('2026-11-13')}CDR.PL,D,20261113,000000,1,1,1,1,1,0\n`)
  expect(parsed.skipped['not a symbol']).toBe(1)
})

const archive = fileURLToPath(
  new URL('../../../../../../../../shared/data/prices/ohlcv-adjusted-20201102-20210430.csv.gz', import.meta.url),
)
test.skipIf(!existsSync(archive))('the published price file is taken, its rows without a close left out', () => {
  const bytes = gunzipSync(readFileSync(archive))
  const parsed = recogniseSource('ohlcv.csv', bytes).parse({ name: 'ohlcv.csv', bytes, nowMs })
  expect(parsed.rows.count).toBeGreaterThan(400_000)
  expect(parsed.skipped['no price']).toBeGreaterThan(0)
})
