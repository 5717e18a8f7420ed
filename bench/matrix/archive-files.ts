import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { easternToUtcMs } from '../../packages/node/src/shops/matrix/calendar/eastern-time.ts'
import type { FileToIngest } from '../../packages/node/src/shops/matrix/ingest/ingest-file.ts'

/**
 * Published files of an archive as the ingester takes them, from one folder or several with the same layout. Short interest
 * and shares outstanding come from a third party's extract, so they are written into the official layouts here; that mapping
 * is no part of the node.
 */
export function* archiveFiles(
  folders: readonly string[],
  { wanted = () => true }: { wanted?(name: string): boolean } = {},
): Generator<FileToIngest> {
  for (const kind of ['symbols', 'finra-short-volume', 'sec-fails'])
    for (const { name, bytes } of filesIn(folders, kind))
      if (wanted(name) && (kind !== 'finra-short-volume' || name.startsWith('CNMS'))) yield { name, bytes: bytes() }
  const bars = readBars(filesIn(folders, 'prices').filter(({ name }) => name.startsWith('ohlcv')))
  const splits = readSplits(filesIn(folders, 'prices').filter(({ name }) => name.startsWith('splits')))
  yield* splitFiles(splits, new Set(bars.keys()))
  yield* priceFiles(bars, splits)
  yield* shortInterestFiles(filesIn(folders, 'short-interest'), averageVolumes(bars, splits))
}

type ArchiveFile = { name: string; bytes(): Buffer }

/** By name; a file that two folders have is taken once. */
function filesIn(folders: readonly string[], kind: string): ArchiveFile[] {
  const found = new Map<string, string>()
  for (const folder of folders)
    if (existsSync(`${folder}/${kind}`))
      for (const name of readdirSync(`${folder}/${kind}`)) found.set(name, `${folder}/${kind}/${name}`)
  return [...found].sort().map(([name, path]) => ({
    name: name.replace(/\.gz$/, ''),
    bytes: () => (name.endsWith('.gz') ? gunzipSync(readFileSync(path)) : readFileSync(path)),
  }))
}

type Bar = { ticker: string; line: string; volume: number }

/** Later files are read last and win: prices adjusted in two ways must not be mixed within a day. */
function readBars(files: readonly ArchiveFile[]): Map<string, Bar[]> {
  const byDay = new Map<string, Bar[]>()
  for (const file of files) {
    const own = new Map<string, Bar[]>()
    for (const line of file.bytes().toString('utf8').split('\n').slice(1)) {
      const [ticker = '', date = '', , , , , volume] = line.split(',')
      if (date === '') continue
      const day = own.get(date) ?? []
      own.set(date, day)
      day.push({ ticker, line, volume: Number(volume) })
    }
    for (const [date, day] of own) byDay.set(date, day)
  }
  return byDay
}

type Splits = ReadonlyMap<string, readonly { date: string; factor: number }[]>

/** Shares of the last day for one share of this one. */
const laterSplits = (splits: Splits, ticker: string, day: string) =>
  (splits.get(ticker) ?? []).filter(({ date }) => date > day).reduce((product, { factor }) => product * factor, 1)

/** One list a day, public before its open. */
function* splitFiles(splits: Splits, days: ReadonlySet<string>): Generator<FileToIngest> {
  const byDay = new Map<string, string[]>()
  for (const [ticker, list] of splits)
    for (const { date, factor } of list)
      if (days.has(date)) byDay.set(date, [...(byDay.get(date) ?? []), `${ticker},${date},${factor}`])
  for (const [date, rows] of byDay)
    yield {
      name: `splits-${date.replaceAll('-', '')}.csv`,
      bytes: Buffer.from(['ticker,date,split', ...rows].join('\n')),
    }
}

/** The archive's prices are adjusted for later splits; a vendor's file of the day is not. */
function* priceFiles(bars: ReadonlyMap<string, readonly Bar[]>, splits: Splits): Generator<FileToIngest> {
  for (const [date, day] of bars) {
    const lines = day.map(({ ticker, line }) => {
      const later = laterSplits(splits, ticker, date)
      if (later === 1) return line
      const [, , open, high, low, close, volume] = line.split(',')
      const asTraded = [open, high, low, close].map((price) => (price ? (Number(price) * later).toFixed(6) : ''))
      return [ticker, date, ...asTraded, volume ? (Number(volume) / later).toFixed(2) : ''].join(',')
    })
    const text = ['ticker,date,open,high,low,close,volume', ...lines].join('\n')
    yield { name: `prices-${date.replaceAll('-', '')}.csv`, bytes: Buffer.from(text) }
  }
}

function readSplits(files: readonly ArchiveFile[]): Splits {
  const splits = new Map<string, { date: string; factor: number }[]>()
  // Each file has all splits up to its date.
  const text = files.at(-1)?.bytes().toString('utf8') ?? ''
  for (const line of text.trim().split('\n').slice(1)) {
    const [ticker = '', date = '', factor] = line.split(',')
    splits.set(ticker, [...(splits.get(ticker) ?? []), { date, factor: Number(factor) }])
  }
  return splits
}

const averageDays = 15

/** Volumes of the archive are adjusted for later splits; short interest is not. */
function averageVolumes(bars: ReadonlyMap<string, readonly Bar[]>, splits: Splits) {
  const days = [...bars.keys()].sort()
  return (settlement: string): Map<string, number> => {
    const sums = new Map<string, { sum: number; count: number }>()
    const used = days.filter((day) => day <= settlement).slice(-averageDays)
    for (const day of used)
      for (const { ticker, volume } of bars.get(day) ?? []) {
        const later = laterSplits(splits, ticker, day)
        const seen = sums.get(ticker) ?? { sum: 0, count: 0 }
        sums.set(ticker, { sum: seen.sum + volume / later, count: seen.count + 1 })
      }
    return new Map([...sums].map(([ticker, { sum, count }]) => [ticker, sum / count]))
  }
}

const header =
  'accountingYearMonthNumber|symbolCode|issueName|issuerServicesGroupExchangeCode|marketClassCode|currentShortPositionQuantity|previousShortPositionQuantity|stockSplitFlag|averageDailyVolumeQuantity|daysToCoverQuantity|revisionFlag|changePercent|changePreviousNumber|settlementDate'

function* shortInterestFiles(
  files: readonly ArchiveFile[],
  averages: (settlement: string) => Map<string, number>,
): Generator<FileToIngest> {
  const ciks = new Map<string, number>()
  const parsed = files.map(({ name, bytes }) => ({
    name,
    rows: bytes()
      .toString('utf8')
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => line.split(',')),
  }))
  for (const { rows } of parsed)
    for (const [symbol = ''] of rows) if (!ciks.has(symbol)) ciks.set(symbol, 1_000_000 + ciks.size)
  yield tickersFile(ciks)
  for (const { name, rows } of parsed) {
    const [, settle = '', seen = ''] = /settle(\d{8})\.seen(\d{8}T\d{4})Z/.exec(name) ?? []
    const settlement = `${settle.slice(0, 4)}-${settle.slice(4, 6)}-${settle.slice(6)}`
    const seenAt = Date.parse(
      `${seen.slice(0, 4)}-${seen.slice(4, 6)}-${seen.slice(6, 8)}T${seen.slice(9, 11)}:${seen.slice(11)}:00Z`,
    )
    const volumes = averages(settlement)
    const lines = rows.flatMap(([symbol = '', , , , , sold = '', change = '']) => {
      const position = Math.round(Number(sold))
      const ratio = 1 + Number(change) / 100
      if (!(position >= 0) || sold === '') return []
      const volume = Math.round(volumes.get(symbol) ?? 0)
      const previous = change !== '' && ratio > 0 ? Math.round(position / ratio) : ''
      return [
        `${settle}|${symbol.replace('.', '/')}|X|A|X|${position}|${previous}||${volume}|${volume > 0 ? Math.max(1, position / volume).toFixed(2) : '999.99'}||0|0|${settlement}`,
      ]
    })
    yield { name: `shrt${settle}.csv`, bytes: Buffer.from([header, ...lines].join('\n')), availableAtMs: seenAt }
    yield framesFile(rows, ciks, settlement, seenAt)
  }
}

function tickersFile(ciks: ReadonlyMap<string, number>): FileToIngest {
  const data = [...ciks].map(([symbol, cik]) => [cik, symbol, symbol.replace('.', '-'), 'NYSE'])
  return {
    name: 'company_tickers_exchange.20201201.json',
    bytes: Buffer.from(JSON.stringify({ fields: ['cik', 'name', 'ticker', 'exchange'], data })),
    availableAtMs: easternToUtcMs('2020-12-01', 6),
  }
}

function framesFile(
  rows: readonly string[][],
  ciks: ReadonlyMap<string, number>,
  end: string,
  seenAt: number,
): FileToIngest {
  const data = rows.flatMap(([symbol = '', , shares = '']) =>
    Number(shares) > 0
      ? [
          {
            accn: `0000000000-21-${String(ciks.get(symbol)).slice(-6)}`,
            cik: ciks.get(symbol),
            entityName: symbol,
            loc: '',
            end,
            val: Math.round(Number(shares)),
          },
        ]
      : [],
  )
  const quarter = `CY${end.slice(0, 4)}Q${Math.ceil(Number(end.slice(5, 7)) / 3)}I`
  const document = {
    taxonomy: 'dei',
    tag: 'EntityCommonStockSharesOutstanding',
    ccp: quarter,
    uom: 'shares',
    pts: data.length,
    data,
  }
  return { name: `frames-shares-${quarter}.json`, bytes: Buffer.from(JSON.stringify(document)), availableAtMs: seenAt }
}
