import { addDays, fromBasic, type IsoDate } from '../calendar/dates.ts'
import { easternDate, easternToUtcMs } from '../calendar/eastern-time.ts'
import { nextMonth } from '../calendar/trading-days.ts'
import { licences } from '../licences/licence.ts'
import { findColumns } from '../reading/columns.ts'
import { dayReader } from '../reading/day-reader.ts'
import { readCount, readOptional, readQuantity } from '../reading/decimal.ts'
import { decodeText, linesOf } from '../reading/decode-text.ts'
import { refuse, shown } from '../reading/refused.ts'
import { isZip, onlyEntry } from '../reading/unzip.ts'
import { normaliseSymbol } from '../symbols/normalise-symbol.ts'
import { refuseFuture } from './check-dates.ts'
import { writeRows } from './row-set.ts'
import type { DueFile, ParsedFile, RawFile, Source } from './source.ts'

const textBytesMax = 48 * 1024 * 1024

/** The net balance of open fails at a date, over all days: never new fails of that day. No row means zero. */
export const secFails: Source = {
  id: 'sec-fails',
  title: 'Fails to deliver',
  publisher: 'U.S. SEC',
  dataset: 'fails',
  urlPattern: 'https://www.sec.gov/files/data/fails-deliver-data/cnsfailsYYYYMM{a|b}.zip',
  schedule: {
    cadence: 'twice a month: the first half at month end, the second half in the middle of the next month',
    graceMs: 10 * 86_400_000,
    due: dueHalves,
    files: halvesBetween,
  },
  minRequestIntervalMs: 500,
  licence: licences.sec,
  seen: 'published files',
  bytesMax: 16 * 1024 * 1024,
  recognises: (name, head) => /^cnsfails\d{6}[ab]/i.test(name) || head.startsWith('SETTLEMENT DATE|CUSIP|'),
  parse: parseFails,
  latestPublicationMs: ({ period }) => halfPublicAt(period),
}

const columns = ['SETTLEMENT DATE', 'CUSIP', 'SYMBOL', 'QUANTITY (FAILS)', 'DESCRIPTION', 'PRICE'] as const

export function parseFails(file: RawFile): ParsedFile {
  const bytes = isZip(file.bytes) ? onlyEntry(file.bytes, { bytesMax: textBytesMax }) : file.bytes
  const lines = linesOf(decodeText(bytes, 'latin-1'))
  const { at, width } = findColumns(lines[0] ?? '', '|', columns)
  if (width !== 6 || columns.some((name, index) => at[name] !== index))
    refuse('header', 'the columns stand in another order than published')
  const trailers = readTrailers(lines)
  const rows = writeRows(trailers.records, { numbers: ['quantity', 'price'], texts: ['cusip'] })
  const seen = new Set<string>()
  const dayOf = dayReader('basic')
  let total = 0
  let first = ''
  let last = ''
  let skipped = 0
  let closed = 0
  for (let i = 1; i <= trailers.records; i += 1) {
    const cells = splitFail(lines[i] as string, i + 1)
    const dateText = cells[0] as string
    const key = `${dateText}${cells[1]}`
    if (seen.has(key)) refuse('duplicate', `line ${i + 1} repeats ${shown(key)}`)
    seen.add(key)
    const quantity = readQuantity(cells[3] as string, 'the quantity')
    total += quantity
    if (first === '' || dateText < first) first = dateText
    if (dateText > last) last = dateText
    // A number that is no longer, or not yet, the one that trades: `XELAXXXX`, `AIVZZZZ`.
    if (/.(XXXX|ZZZZ)$/.test(cells[2] as string)) {
      closed += 1
      continue
    }
    const symbol = normaliseSymbol(cells[2] as string, 'plain')
    const cusip = cells[1] as string
    if (symbol === undefined || !/^[0-9A-Z*@#]{9}$/.test(cusip)) {
      skipped += 1
      continue
    }
    const row = rows.add(symbol, dayOf(dateText) ?? refuse('date', `line ${i + 1}: ${shown(dateText)}`))
    rows.set('quantity', row, quantity)
    rows.set('price', row, readOptional(cells[5] as string, 'the price', ['.']))
    rows.setText('cusip', row, cusip)
  }
  if (total !== trailers.shares)
    refuse('count', `the trailer says ${trailers.shares} shares and the rows sum to ${total}`)
  const asOf = fromBasic(last) ?? refuse('empty', 'the file has no rows')
  refuseFuture(asOf, file.nowMs)
  if (first.slice(0, 6) !== last.slice(0, 6))
    refuse('date', `the rows reach from ${first} to ${last}, more than one month`)
  const period = `${asOf.slice(0, 7)}${Number(first.slice(6)) < 15 ? 'a' : 'b'}`
  return { part: 'all', period, asOf, rows: rows.done(), skipped: { 'not a symbol': skipped, 'not traded': closed } }
}

/** A description may contain the delimiter: the first four cells and the last one are certain. */
function splitFail(line: string, lineNumber: number): string[] {
  const cells = line.split('|')
  if (cells.length === 6) return cells
  if (cells.length < 6) refuse('row', `line ${lineNumber} has ${cells.length} cells instead of 6`)
  return [...cells.slice(0, 4), cells.slice(4, -1).join('|'), cells[cells.length - 1] as string]
}

function readTrailers(lines: readonly string[]): { records: number; shares: number } {
  const count = /^Trailer record count (\d+)$/.exec(lines[lines.length - 2]?.trim() ?? '')
  const shares = /^Trailer total quantity of shares (\d+)$/.exec(lines[lines.length - 1]?.trim() ?? '')
  if (!count || !shares) refuse('trailer', 'the two trailer lines are missing')
  const records = readCount((count as RegExpExecArray)[1] as string, 'the record count')
  if (records !== lines.length - 3)
    refuse('count', `the trailer says ${records} records and there are ${lines.length - 3}`)
  return { records, shares: readCount((shares as RegExpExecArray)[1] as string, 'the sum of shares') }
}

/** First half: the last day of its month. Second half: the 17th of the month after. */
function halfPublicAt(period: string): number {
  const month = period.slice(0, 7)
  const after = `${nextMonth(month)}-01`
  const date: IsoDate = period.endsWith('a') ? addDays(after, -1) : addDays(after, 16)
  return easternToUtcMs(date, 20)
}

/** The newest for the balances, the others for which symbol a CUSIP is. */
export const halvesWanted = 6

function dueHalves(nowMs: number): DueFile[] {
  const today = easternDate(nowMs)
  return halvesBetween(addDays(today, -150), today)
    .filter(({ dueAtMs }) => dueAtMs <= nowMs)
    .slice(0, halvesWanted)
}

/** Both halves of a month that are touched. */
function halvesBetween(from: IsoDate, to: IsoDate): DueFile[] {
  const files: DueFile[] = []
  for (let month = from.slice(0, 7); month <= to.slice(0, 7); month = nextMonth(month))
    for (const [half, begins, ends] of [
      ['a', '01', '15'],
      ['b', '15', '31'],
    ] as const) {
      if (`${month}-${ends}` < from || `${month}-${begins}` > to) continue
      const name = `cnsfails${month.replace('-', '')}${half}.zip`
      files.push({
        url: `https://www.sec.gov/files/data/fails-deliver-data/${name}`,
        name,
        period: `${month}${half}`,
        dueAtMs: halfPublicAt(`${month}${half}`),
      })
    }
  return files.reverse()
}
