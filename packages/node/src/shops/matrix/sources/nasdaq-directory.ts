import { addDays, fromParts, toDayNumber } from '../calendar/dates.ts'
import { easternDate, easternToUtcMs } from '../calendar/eastern-time.ts'
import { licences } from '../licences/licence.ts'
import { cellsOf, findColumns } from '../reading/columns.ts'
import { decodeText, linesOf } from '../reading/decode-text.ts'
import { refuse, shown } from '../reading/refused.ts'
import { classifySecurity, securityKinds } from '../symbols/classify-security.ts'
import { normaliseSymbol } from '../symbols/normalise-symbol.ts'
import { refuseFuture } from './check-dates.ts'
import { writeRows } from './row-set.ts'
import type { ParsedFile, RawFile, Source } from './source.ts'

const folder = 'https://www.nasdaqtrader.com/dynamic/SymDir'

/** All exchange-listed securities in two files: what Nasdaq lists, and what the others list. */
export const nasdaqDirectory: Source = {
  id: 'nasdaq-directory',
  title: 'Symbol directory',
  publisher: 'Nasdaq Trader',
  dataset: 'listings',
  urlPattern: `${folder}/{nasdaqlisted|otherlisted}.txt`,
  schedule: {
    cadence: 'several times a day; read every morning',
    graceMs: 3 * 86_400_000,
    due: (nowMs) => {
      const day = addDays(easternDate(nowMs), -1)
      return ['nasdaqlisted', 'otherlisted'].map((name) => ({
        url: `${folder}/${name}.txt`,
        name: `${name}.txt`,
        period: `${name} ${day}`,
        dueAtMs: easternToUtcMs(day, 8),
      }))
    },
  },
  minRequestIntervalMs: 2_000,
  licence: licences.nasdaq,
  seen: 'published files',
  bytesMax: 8 * 1024 * 1024,
  recognises: (name, head) =>
    /^(nasdaqlisted|otherlisted)[.\d]*\.txt/.test(name) ||
    /^(Symbol\|Security Name\|Market Category\|Test|ACT Symbol\|)/.test(head),
  parse: parseDirectory,
  latestPublicationMs: ({ period }) => Date.parse(period),
}

export function parseDirectory(file: RawFile): ParsedFile {
  const lines = linesOf(decodeText(file.bytes, 'latin-1'))
  const header = lines[0] ?? ''
  const nasdaq = header.startsWith('Symbol|')
  const symbolColumn = nasdaq ? 'Symbol' : 'ACT Symbol'
  const { at, width } = findColumns(
    header,
    '|',
    [symbolColumn, 'Security Name', 'ETF', 'Test Issue'],
    ['Exchange', 'Market Category'],
  )
  const stamp = /^File Creation Time: (\d{2})(\d{2})(\d{4})(\d{2}):(\d{2})\|*$/.exec(lines[lines.length - 1] ?? '')
  if (!stamp) return refuse('trailer', 'the last line is not the file creation time')
  const [month, day, year, hour, minute] = stamp.slice(1).map(Number) as [number, number, number, number, number]
  const date = fromParts(year, month, day)
  if (date === undefined || hour > 23 || minute > 59) return refuse('trailer', `not a time: ${shown(stamp[0])}`)
  refuseFuture(date, file.nowMs)
  if (lines.length < 3) refuse('empty', 'the directory has no securities')
  const rows = writeRows(lines.length - 2, { numbers: ['etf', 'test', 'kind'], texts: ['name', 'exchange'] })
  const seen = new Set<string>()
  let skipped = 0
  for (let i = 1; i < lines.length - 1; i += 1) {
    const cells = cellsOf(lines[i] as string, '|', width, i + 1)
    const raw = cells[at[symbolColumn as 'ETF']] as string
    if (seen.has(raw)) refuse('duplicate', `${shown(raw)} occurs twice`)
    seen.add(raw)
    const name = (cells[at['Security Name']] as string).trim()
    const etf = readYesNo(cells[at.ETF] as string, i)
    const testIssue = readYesNo(cells[at['Test Issue']] as string, i)
    const symbol = normaliseSymbol(raw, 'nasdaq')
    if (symbol === undefined) {
      skipped += 1
      continue
    }
    const row = rows.add(symbol, toDayNumber(date))
    rows.set('etf', row, etf ? 1 : 0)
    rows.set('test', row, testIssue ? 1 : 0)
    rows.set('kind', row, securityKinds.indexOf(classifySecurity({ symbol, name, etf, testIssue })))
    rows.setText('name', row, name.slice(0, 120))
    rows.setText('exchange', row, nasdaq ? 'Q' : ((cells[at.Exchange ?? 0] as string) ?? ''))
  }
  const stampedAtMs = easternToUtcMs(date, hour, minute)
  return {
    part: nasdaq ? 'nasdaqlisted' : 'otherlisted',
    period: new Date(stampedAtMs).toISOString(),
    asOf: date,
    stampedAtMs,
    rows: rows.done(),
    skipped: { 'not a symbol': skipped },
  }
}

function readYesNo(text: string, index: number): boolean {
  const flag = text.trim()
  if (flag === 'Y') return true
  // Some securities have the flag left blank.
  return flag === 'N' || flag === '' ? false : refuse('row', `line ${index + 1}: not a flag: ${shown(text)}`)
}
