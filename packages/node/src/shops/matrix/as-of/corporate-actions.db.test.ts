import { useTestDatabase } from '@assay/till/store/use-database.fixture'
import { expect, test } from 'vitest'
import { sampleNowMs } from '../demo/sample-files.fixture.ts'
import { ingestFile } from '../ingest/ingest-file.ts'
import { createLicencePolicy } from '../licences/licence-policy.ts'
import { readHistory } from '../routes/read-history.ts'
import type { SourceId } from '../sources/source.ts'
import { createSymbolTable } from '../store/symbol-table.ts'
import type { ColumnName } from './as-of-view.ts'
import { createFileCache } from './file-cache.ts'
import { loadAsOfView } from './load-view.ts'

const text = (...lines: string[]) => Buffer.from(`${lines.join('\n')}\n`)

const fails = (...rows: [day: string, cusip: string, symbol: string, quantity: number, price: number][]) =>
  text(
    'SETTLEMENT DATE|CUSIP|SYMBOL|QUANTITY (FAILS)|DESCRIPTION|PRICE',
    ...rows.map(([day, cusip, symbol, quantity, price]) => `${day}|${cusip}|${symbol}|${quantity}|X|${price}`),
    `Trailer record count ${rows.length}`,
    `Trailer total quantity of shares ${rows.reduce((sum, row) => sum + row[3], 0)}`,
  )

const interest = (settlement: string, ...rows: [symbol: string, position: number][]) =>
  text(
    'accountingYearMonthNumber|symbolCode|issueName|issuerServicesGroupExchangeCode|marketClassCode|currentShortPositionQuantity|previousShortPositionQuantity|stockSplitFlag|averageDailyVolumeQuantity|daysToCoverQuantity|revisionFlag|changePercent|changePreviousNumber|settlementDate',
    ...rows.map(([symbol, position]) => `20261015|${symbol}|X|A|X|${position}|${position}||100|9||0|0|${settlement}`),
  )

/** SPLT gives three shares for one on 20 October, RVRS one for some, and OLDN is called NEWN. */
const files: { source: SourceId; name: string; bytes: Buffer; availableAt: string }[] = [
  {
    source: 'sec-tickers',
    name: 'company_tickers_exchange.20261001.json',
    bytes: text('{"fields":["cik","name","ticker","exchange"],"data":[[1,"Split","SPLT","NYSE"]]}'),
    availableAt: '2026-10-01T10:00:00Z',
  },
  {
    source: 'sec-shares',
    name: 'frames-shares-CY2026Q3I.json',
    bytes: text(
      '{"tag":"EntityCommonStockSharesOutstanding","ccp":"CY2026Q3I","pts":1,"data":[{"accn":"0000000001-26-000001","cik":1,"end":"2026-09-30","val":10000}]}',
    ),
    availableAt: '2026-10-05T10:00:00Z',
  },
  {
    source: 'sec-shares',
    name: 'CIK0000000001.json',
    bytes: text(
      '{"cik":1,"facts":{"dei":{"EntityCommonStockSharesOutstanding":{"units":{"shares":[{"end":"2026-03-31","val":9000,"accn":"0000000001-26-000002","filed":"2026-04-20"}]}},"EntityPublicFloat":{"units":{"USD":[{"end":"2026-06-30","val":250000,"accn":"0000000001-26-000002","filed":"2026-10-12"}]}}}}}',
    ),
    availableAt: '2026-10-13T02:00:00Z',
  },
  ...['14', '15', '16', '19', '20', '21'].map((day) => ({
    source: 'prices' as const,
    name: `prices-202610${day}.csv`,
    bytes: text(
      'ticker,date,open,high,low,close,volume',
      `SPLT,2026-10-${day},${day < '20' ? '30,30,30,30,100' : '10,10,10,10,300'}`,
    ),
    availableAt: `2026-10-${day}T22:00:00Z`,
  })),
  {
    source: 'finra-short-interest',
    name: 'shrt20261015.csv',
    bytes: interest('2026-10-15', ['SPLT', 1000], ['RVRS', 700], ['OLDN', 500]),
    availableAt: '2026-10-28T22:00:00Z',
  },
  {
    source: 'sec-fails',
    name: 'cnsfails202610a.txt',
    bytes: fails(
      ['20261005', '000000AA1', 'OLDN', 10, 5],
      ['20261005', '000000BB1', 'RVRS', 90, 1],
      ['20261005', '000000CC1', 'SPLT', 20, 30],
    ),
    availableAt: '2026-10-31T22:00:00Z',
  },
  {
    source: 'actions',
    name: 'splits-20261020.csv',
    bytes: text('ticker,date,split', 'SPLT,2026-10-20,3.0'),
    availableAt: '2026-11-02T22:00:00Z',
  },
  {
    source: 'sec-fails',
    name: 'cnsfails202610b.txt',
    bytes: fails(
      ['20261020', '000000AA1', 'NEWN', 12, 5],
      ['20261020', '000000BB2', 'RVRS', 9, 8.7],
      ['20261019', '000000BB1', 'RVRSXXXX', 9, 1],
      ['20261019', '000000CC1', 'SPLT', 20, 30],
      ['20261020', '000000CC1', 'SPLT', 60, 10],
    ),
    availableAt: '2026-11-10T22:00:00Z',
  },
]

const db = await useTestDatabase()
let newNames: ReadonlyMap<string, string>
const symbols = createSymbolTable()

async function openFileCache() {
  const fileCache = createFileCache()
  await fileCache.refresh(db.database)
  return fileCache
}

/** Figures by column and symbol, as known at a moment. */
async function viewAt(at: string) {
  const view = await loadAsOfView({ sql: db.database, fileCache: await openFileCache(), symbols }, Date.parse(at))
  newNames = view.renamed
  return (column: ColumnName, symbol: string) => view.columns[column]?.values[view.indexOf.get(symbol) ?? -1]
}

const columns = ['short_interest', 'shares_outstanding', 'fails', 'fails_mean', 'price_close', 'return_5d_pct'] as const

test('a split makes the figures of before comparable, and no earlier answer changes', async () => {
  const clock = { nowMs: () => sampleNowMs, monotonicMs: () => 0, sleep: async () => {} }
  const answerAt = async (at: string) => {
    const value = await viewAt(at)
    return ['SPLT', 'RVRS', 'OLDN'].map((symbol) => columns.map((column) => value(column, symbol) ?? Number.NaN))
  }
  const before: [string, unknown][] = []
  for (const { availableAt, ...file } of files) {
    const common = { database: db.database, clock, symbols }
    const outcome = await ingestFile(common, { ...file, availableAtMs: Date.parse(availableAt) })
    expect([file.name, outcome.status]).toEqual([file.name, 'stored'])
    if (file.source !== 'prices') before.push([availableAt, await answerAt(availableAt)])
  }
  // What was said before the list and the second half of the fails were public.
  for (const [at, said] of before) expect(await answerAt(at)).toEqual(said)
  const split = await viewAt('2026-11-03T12:00:00Z')
  expect(columns.map((column) => split(column, 'SPLT'))).toEqual([3000, 30_000, 60, 60, 10, 0])
  expect(split('short_interest', 'RVRS')).toBe(700)
  // Of a value in dollars a split changes nothing, and before its filing nobody knew it.
  expect(split('public_float_usd', 'SPLT')).toBe(250_000)
  expect((await viewAt('2026-10-12T12:00:00Z'))('public_float_usd', 'SPLT')).toBeUndefined()
  const now = await viewAt('2026-11-11T12:00:00Z')
  expect([now('fails', 'SPLT'), now('fails_mean', 'SPLT')]).toEqual([60, 60])
  expect([now('short_interest', 'RVRS'), now('fails', 'RVRS')]).toEqual([Number.NaN, 9])
  expect(now('fails', 'RVRSXXXX')).toBeUndefined()
  expect([now('short_interest', 'NEWN'), now('fails', 'NEWN'), newNames.get('OLDN')]).toEqual([500, 12, 'NEWN'])
})

test('history follows a paper through its symbols and splits', async () => {
  const fileCache = await openFileCache()
  const deps = { sql: db.database, fileCache, symbols, licences: createLicencePolicy({ demo: true, assertions: [] }) }
  const historyOf = (symbol: string, at: string) => {
    const query = { feed: 'squeeze' as const, symbol, days: 60, knownAtMs: Date.parse(at), sinceDate: '2026-01-01' }
    return readHistory(deps, query, 'free') as Promise<{
      actions: unknown[]
      series: Record<string, Record<string, unknown>[]>
    }>
  }
  const renamed = await historyOf('NEWN', '2026-11-11T12:00:00Z')
  expect(renamed.series.short_interest?.map(({ position }) => position)).toEqual([500])
  expect(renamed.series.fails?.map(({ quantity }) => quantity)).toEqual([10, 12])
  expect(renamed.actions).toMatchObject([{ kind: 'symbol', from: 'OLDN', to: 'NEWN', source: 'sec-fails' }])
  expect((await historyOf('NEWN', '2026-11-09T12:00:00Z')).series.short_interest).toEqual([])
  const adjusted = await historyOf('SPLT', '2026-11-11T12:00:00Z')
  expect(adjusted.series.fails?.map(({ quantity, price, split_factor }) => [quantity, price, split_factor])).toEqual([
    [60, 10, 3],
    [60, 10, 3],
    [60, 10, undefined],
  ])
  expect(adjusted.actions).toMatchObject([{ kind: 'split', date: '2026-10-20', factor: 3, source: 'actions' }])
  const unclear = await historyOf('RVRS', '2026-11-11T12:00:00Z')
  expect(unclear.series.fails?.map(({ quantity, split_factor }) => [quantity, split_factor])).toEqual([
    [90, null],
    [9, undefined],
  ])
})
