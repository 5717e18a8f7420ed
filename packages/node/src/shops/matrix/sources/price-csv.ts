import { easternToUtcMs } from '../calendar/eastern-time.ts'
import { licences } from '../licences/licence.ts'
import { cellsOf, findColumns } from '../reading/columns.ts'
import { dayReader } from '../reading/day-reader.ts'
import { readDecimal, readQuantity } from '../reading/decimal.ts'
import { decodeText, linesOf } from '../reading/decode-text.ts'
import { refuse, shown } from '../reading/refused.ts'
import { normaliseSymbol } from '../symbols/normalise-symbol.ts'
import { refuseFuture } from './check-dates.ts'
import { writeRows } from './row-set.ts'
import type { ParsedFile, RawFile, Source } from './source.ts'

/** Daily bars from the party that the operator has them from: no licensed price source is chosen for the node. */
export const priceCsv: Source = {
  id: 'price-csv',
  title: 'Daily prices supplied by the operator',
  publisher: 'the operator',
  dataset: 'prices',
  urlPattern: 'prices*.csv: ticker,date,open,high,low,close,volume',
  schedule: { cadence: 'as the operator supplies it', graceMs: 4 * 86_400_000, due: () => [] },
  politeMs: 0,
  licence: licences.operator,
  seen: 'published files',
  bytesMax: 128 * 1024 * 1024,
  recognises: (name, head) =>
    /^(prices|ohlcv).*\.csv/.test(name) || /^ticker,date,open,high,low,close,volume/.test(head),
  parse: parsePrices,
  publicBy: ({ asOf }) => easternToUtcMs(asOf, 17),
}

export function parsePrices(file: RawFile): ParsedFile {
  const lines = linesOf(decodeText(file.bytes, 'utf-8'))
  const { at, width } = findColumns(lines[0] ?? '', ',', ['ticker', 'date', 'open', 'high', 'low', 'close', 'volume'])
  if (lines.length < 2) refuse('empty', 'the file has a header and no rows')
  const rows = writeRows(lines.length - 1, { numbers: ['open', 'high', 'low', 'close', 'volume'] })
  const seen = new Set<string>()
  const dayOf = dayReader('iso')
  let first = ''
  let last = ''
  const skipped = { 'not a symbol': 0, 'no price': 0 }
  for (let i = 1; i < lines.length; i += 1) {
    const cells = cellsOf(lines[i] as string, ',', width, i + 1)
    const date = cells[at.date] as string
    const day = dayOf(date) ?? refuse('date', `line ${i + 1} has no date: ${shown(date)}`)
    const key = `${cells[at.ticker]} ${date}`
    if (seen.has(key)) refuse('duplicate', `${shown(key)} stands twice`)
    seen.add(key)
    if (first === '' || date < first) first = date
    if (date > last) last = date
    const close = readDecimal(cells[at.close] as string, 'the close')
    const symbol = normaliseSymbol(cells[at.ticker] as string, 'sec')
    if (symbol === undefined || !(close > 0)) {
      skipped[symbol === undefined ? 'not a symbol' : 'no price'] += 1
      continue
    }
    const row = rows.add(symbol, day)
    for (const name of ['open', 'high', 'low', 'volume'] as const)
      rows.set(name, row, readQuantity(cells[at[name]] as string, name))
    rows.set('close', row, close)
  }
  refuseFuture(last, file.nowMs)
  return {
    part: 'daily',
    period: first === last ? last : `${first}..${last}`,
    asOf: last,
    rows: rows.done(),
    skipped,
  }
}
