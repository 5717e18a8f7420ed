import { fromBasic, toBasic, toDayNumber } from '../calendar/dates.ts'
import { easternToUtcMs } from '../calendar/eastern-time.ts'
import { licences } from '../licences/licence.ts'
import { cellsOf, findColumns } from '../reading/columns.ts'
import { readCount, readQuantity } from '../reading/decimal.ts'
import { decodeText, linesOf } from '../reading/decode-text.ts'
import { refuse, shown } from '../reading/refused.ts'
import { normaliseSymbol } from '../symbols/normalise-symbol.ts'
import { refuseFuture, refuseOtherDate } from './check-dates.ts'
import { writeRows } from './row-set.ts'
import type { ParsedFile, RawFile, Source } from './source.ts'
import { factorDays, tradingDayFiles } from './trading-day-files.ts'

const facilities = new Set(['CNMS', 'FNSQ', 'FNQC', 'FNRA', 'FNYX', 'FADF', 'FORF'])
const fileName = /^([A-Z]{4})shvol(\d{8})\.txt/

/** Regular-hours off-exchange volume: a flow, mostly hedging, never a position. ShortVolume includes the exempt part. */
export const finraShortVolume: Source = {
  id: 'finra-short-volume',
  title: 'Daily short sale volume',
  publisher: 'FINRA',
  dataset: 'short_volume',
  urlPattern: 'https://cdn.finra.org/equity/regsho/daily/CNMSshvolYYYYMMDD.txt',
  schedule: {
    cadence: 'every trading day by 18:00 ET',
    graceMs: 8 * 3_600_000,
    ...tradingDayFiles(factorDays + 1, (day) => [
      {
        url: `https://cdn.finra.org/equity/regsho/daily/CNMSshvol${toBasic(day)}.txt`,
        name: `CNMSshvol${toBasic(day)}.txt`,
        period: day,
        dueAtMs: easternToUtcMs(day, 18),
      },
    ]),
  },
  minRequestIntervalMs: 1_000,
  licence: licences.finra,
  seen: 'published files',
  bytesMax: 8 * 1024 * 1024,
  recognises: (name, head) => fileName.test(name) || head.startsWith('Date|Symbol|ShortVolume|'),
  parse: parseShortVolume,
  latestPublicationMs: ({ asOf }) => easternToUtcMs(asOf, 18),
}

export function parseShortVolume(file: RawFile): ParsedFile {
  const lines = linesOf(decodeText(file.bytes, 'utf-8'))
  const { at, width } = findColumns(
    lines[0] ?? '',
    '|',
    ['Date', 'Symbol', 'ShortVolume', 'ShortExemptVolume', 'TotalVolume'],
    ['Market'],
  )
  const last = lines.length - 1
  if (last < 1) refuse('trailer', 'the record count at the end is missing')
  // A file cut off within a date can end in digits that happen to be the count so far.
  if (file.bytes.at(-1) !== 0x0a) refuse('trailer', 'the record count at the end is cut off')
  const expected = readCount(lines[last] as string, 'the record count')
  if (expected !== last - 1) refuse('count', `the trailer says ${expected} records and there are ${last - 1}`)
  const named = fileName.exec(file.name)
  const part = named && facilities.has(named[1] as string) ? (named[1] as string) : 'CNMS'
  const rows = writeRows(expected, { numbers: ['short_volume', 'exempt_volume', 'total_volume'] })
  const seen = new Set<string>()
  let skipped = 0
  let dateText = ''
  let day = 0
  for (let i = 1; i < last; i += 1) {
    const cells = cellsOf(lines[i] as string, '|', width, i + 1)
    const date = cells[at.Date] as string
    if (date !== dateText) {
      if (dateText !== '') refuse('date', `line ${i + 1} is dated ${shown(date)} in a file of ${dateText}`)
      day = toDayNumber(fromBasic(date) ?? refuse('date', `line ${i + 1} has no date: ${shown(date)}`))
      dateText = date
    }
    const raw = cells[at.Symbol] as string
    if (seen.has(raw)) refuse('duplicate', `${shown(raw)} occurs twice`)
    seen.add(raw)
    const short = readQuantity(cells[at.ShortVolume] as string, 'ShortVolume')
    const exempt = readQuantity(cells[at.ShortExemptVolume] as string, 'ShortExemptVolume')
    const total = readQuantity(cells[at.TotalVolume] as string, 'TotalVolume')
    if (short > total || exempt > short)
      refuse('number', `line ${i + 1}: exempt, short and total volume of ${shown(raw)} do not fit together`)
    const symbol = normaliseSymbol(raw, 'finra')
    if (symbol === undefined) {
      skipped += 1
      continue
    }
    const row = rows.add(symbol, day)
    rows.set('short_volume', row, short)
    rows.set('exempt_volume', row, exempt)
    rows.set('total_volume', row, total)
  }
  const asOf =
    fromBasic(dateText || (named?.[2] ?? '')) ?? refuse('empty', 'a file without rows must carry its date in its name')
  refuseFuture(asOf, file.nowMs)
  refuseOtherDate(file.name, asOf)
  return { part, period: asOf, asOf, rows: rows.done(), skipped: { 'not a symbol': skipped } }
}
