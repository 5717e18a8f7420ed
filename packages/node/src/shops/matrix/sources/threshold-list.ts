import { fromBasic, type IsoDate, toDayNumber } from '../calendar/dates.ts'
import { easternToUtcMs } from '../calendar/eastern-time.ts'
import { cellsOf, findColumns } from '../reading/columns.ts'
import { decodeText, linesOf } from '../reading/decode-text.ts'
import { refuse, shown } from '../reading/refused.ts'
import { normaliseSymbol } from '../symbols/normalise-symbol.ts'
import { refuseFuture, refuseOtherDate } from './check-dates.ts'
import { writeRows } from './row-set.ts'
import type { ParsedFile, RawFile } from './source.ts'

export type ThresholdLayout = {
  part: string
  nameColumn: string
  /** The list's date: in the name of the file, for the trailer's stamp may be of the night after. */
  dateOf(fileName: string): IsoDate | undefined
  /** A stamp that a publisher puts under a list that was never made. */
  placeholder?(stamp: string): boolean
}

/** Nasdaq, NYSE and Cboe publish one shape: a header, securities, and a 14-digit Eastern stamp as last line. */
export function parseThresholdList(file: RawFile, layout: ThresholdLayout): ParsedFile {
  const lines = linesOf(decodeText(file.bytes, 'latin-1'))
  if (!/^symbol\|/i.test(lines[0] ?? '')) refuse('header', 'a threshold list begins with Symbol|')
  const { at, width } = findColumns(
    lines[0] as string,
    '|',
    ['Symbol', layout.nameColumn as 'Security Name'],
    ['Market Category', 'Reg SHO Threshold Flag', 'Rule 3210'],
  )
  const stamp = (lines[lines.length - 1] ?? '').replace(/\|+$/, '').trim()
  const stamped = /^(\d{8})(\d{2})(\d{2})(\d{2})$/.exec(stamp)
  const stampDate = stamped ? fromBasic(stamped[1] as string) : undefined
  if (!stamped || !stampDate) return refuse('trailer', `the last line is no time stamp: ${shown(stamp)}`)
  if (layout.placeholder?.(stamp) && lines.length === 2) refuse('placeholder', 'an empty list for a day without one')
  const date = layout.dateOf(file.name) ?? stampDate
  refuseFuture(date, file.nowMs)
  refuseOtherDate(file.name, date)
  if (stampDate < date) refuse('date', `the list of ${date} is stamped ${stampDate}`)
  const rows = writeRows(lines.length - 2, { numbers: ['rule_3210'], texts: ['name', 'category'] })
  const seen = new Set<string>()
  let skipped = 0
  for (let i = 1; i < lines.length - 1; i += 1) {
    // A row may end before its last empty columns do.
    const cells = cellsOf(padded(lines[i] as string, width), '|', width, i + 1)
    const raw = cells[at.Symbol] as string
    if (seen.has(raw)) refuse('duplicate', `${shown(raw)} occurs twice`)
    seen.add(raw)
    const listed =
      at['Reg SHO Threshold Flag'] === undefined ? 'Y' : (cells[at['Reg SHO Threshold Flag']] as string).trim()
    if (listed !== 'Y' && listed !== '') refuse('row', `line ${i + 1}: the threshold flag is ${shown(listed)}`)
    const symbol = normaliseSymbol(raw, 'nasdaq')
    if (symbol === undefined) {
      skipped += 1
      continue
    }
    const row = rows.add(symbol, toDayNumber(date))
    rows.setText('name', row, ((cells[at[layout.nameColumn as 'Security Name']] as string) ?? '').trim())
    const category = at['Market Category']
    if (category !== undefined) rows.setText('category', row, (cells[category] as string).trim() || null)
    const rule = at['Rule 3210'] === undefined ? '' : (cells[at['Rule 3210']] as string).trim()
    rows.set('rule_3210', row, rule === 'Y' ? 1 : rule === 'N' ? 0 : null)
  }
  const [, , hour, minute, second] = stamped.map(Number) as [number, number, number, number, number]
  if (hour > 23 || minute > 59 || second > 59) refuse('trailer', `the stamp is no time: ${shown(stamp)}`)
  return {
    part: layout.part,
    period: date,
    asOf: date,
    stampedAtMs: easternToUtcMs(stampDate, hour, minute, second),
    rows: rows.done(),
    skipped: { 'not a symbol': skipped },
  }
}

function padded(line: string, width: number): string {
  const missing = width - line.split('|').length
  return missing > 0 && missing <= 4 ? line + '|'.repeat(missing) : line
}

/** `…20261113…` or `…2026-11-13…`. */
export function dateInName(name: string): IsoDate | undefined {
  const match = /(?<!\d)(20\d{2})-?(\d{2})-?(\d{2})(?!\d)/.exec(name)
  return match ? fromBasic(`${match[1]}${match[2]}${match[3]}`) : undefined
}
