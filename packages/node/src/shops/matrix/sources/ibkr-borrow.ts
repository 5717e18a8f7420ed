import { fromParts, toDayNumber } from '../calendar/dates.ts'
import { easternToUtcMs } from '../calendar/eastern-time.ts'
import { licences } from '../licences/licence.ts'
import { cellsOf, findColumns } from '../reading/columns.ts'
import { readCount, readOptional, readQuantity } from '../reading/decimal.ts'
import { decodeText, linesOf } from '../reading/decode-text.ts'
import { refuse, shown } from '../reading/refused.ts'
import { normaliseSymbol } from '../symbols/normalise-symbol.ts'
import { refuseFuture } from './check-dates.ts'
import { writeRows } from './row-set.ts'
import type { ParsedFile, RawFile, Source } from './source.ts'

const everyMs = 15 * 60_000

/** One broker's indicative fee and supply, by FTP and without history: what is not read in time is gone. */
export const ibkrBorrow: Source = {
  id: 'ibkr-borrow',
  title: 'Shortable stock file',
  publisher: 'Interactive Brokers',
  dataset: 'borrow',
  urlPattern: 'ftp://shortstock@ftp2.interactivebrokers.com/usa.txt',
  schedule: {
    cadence: 'about every 15 minutes, by FTP',
    graceMs: 86_400_000,
    refetchMs: everyMs - 30_000,
    due: (nowMs) => {
      const dueAtMs = Math.floor(nowMs / everyMs) * everyMs
      const period = new Date(dueAtMs).toISOString()
      return [{ url: 'ftp://shortstock@ftp2.interactivebrokers.com/usa.txt', name: 'usa.txt', period, dueAtMs }]
    },
  },
  minRequestIntervalMs: 60_000,
  licence: licences.ibkr,
  seen: 'published files',
  bytesMax: 16 * 1024 * 1024,
  recognises: (name, head) => head.startsWith('#BOF|') || /^usa[-.\d]*\.txt/.test(name),
  parse: parseBorrow,
  latestPublicationMs: ({ period }) => Date.parse(period),
}

const availableMax = '>10000000'

export function parseBorrow(file: RawFile): ParsedFile {
  const lines = linesOf(decodeText(file.bytes, 'latin-1'))
  const begin = /^#BOF\|(\d{4})\.(\d{2})\.(\d{2})\|(\d{2}):(\d{2}):(\d{2})\|?$/.exec(lines[0] ?? '')
  if (!begin) return refuse('header', `the first line is not #BOF with a time: ${shown(lines[0] ?? '')}`)
  const [year, month, dayOfMonth, hour, minute, second] = begin.slice(1).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  const date = fromParts(year, month, dayOfMonth) ?? refuse('date', `no such day: ${shown(begin[0])}`)
  if (hour > 23 || minute > 59 || second > 59) refuse('date', `no such time: ${shown(begin[0])}`)
  refuseFuture(date, file.nowMs)
  const end = /^#EOF\|(\d+)\|?$/.exec(lines[lines.length - 1] ?? '')
  if (!end) return refuse('trailer', 'the last line is not #EOF with a count')
  const expected = readCount(end[1] as string, 'the record count')
  if (expected !== lines.length - 3)
    refuse('count', `the trailer says ${expected} records and there are ${lines.length - 3}`)
  const header = (lines[1] ?? '').replace(/^#/, '')
  const { at, width } = findColumns(header, '|', ['SYM', 'CUR', 'NAME', 'REBATERATE', 'FEERATE', 'AVAILABLE'], ['FIGI'])
  const stampedAtMs = easternToUtcMs(date, hour, minute, second)
  const rows = writeRows(expected, { numbers: ['fee_pct', 'rebate_pct', 'available', 'available_capped'] })
  const seen = new Set<string>()
  const skipped = { 'not a symbol': 0, 'not in USD': 0, duplicate: 0 }
  for (let i = 2; i < lines.length - 1; i += 1) {
    const cells = cellsOf(lines[i] as string, '|', width, i + 1)
    const fee = readOptional(cells[at.FEERATE] as string, 'the fee', ['NA'])
    const rebate = readOptional(cells[at.REBATERATE] as string, 'the rebate', ['NA'])
    const available = readAvailable(cells[at.AVAILABLE] as string)
    const symbol = normaliseSymbol(cells[at.SYM] as string, 'ibkr')
    if (symbol === undefined) skipped['not a symbol'] += 1
    else if (cells[at.CUR] !== 'USD') skipped['not in USD'] += 1
    else if (seen.has(symbol)) skipped['duplicate'] += 1
    else {
      seen.add(symbol)
      const row = rows.add(symbol, toDayNumber(date))
      rows.set('fee_pct', row, fee)
      rows.set('rebate_pct', row, rebate)
      rows.set('available', row, available.value)
      rows.set('available_capped', row, available.capped ? 1 : 0)
    }
  }
  return {
    part: 'usa',
    period: new Date(stampedAtMs).toISOString(),
    asOf: date,
    stampedAtMs,
    rows: rows.done(),
    skipped,
  }
}

/** `>10000000` is a cap and not a count; `NA` and blank are unknown, which is not zero. */
function readAvailable(text: string): { value: number | null; capped: boolean } {
  const trimmed = text.trim()
  if (trimmed === availableMax) return { value: 10_000_000, capped: true }
  if (trimmed === '' || trimmed === 'NA') return { value: null, capped: false }
  return { value: readQuantity(trimmed, 'the available shares'), capped: false }
}
