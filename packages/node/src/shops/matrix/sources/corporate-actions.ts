import { addDays, fromDayNumber, type IsoDate } from '../calendar/dates.ts'
import { easternDate, easternToUtcMs } from '../calendar/eastern-time.ts'
import { licences } from '../licences/licence.ts'
import { cellsOf, findColumns } from '../reading/columns.ts'
import { dayReader } from '../reading/day-reader.ts'
import { decodeText, linesOf } from '../reading/decode-text.ts'
import { refuse, shown } from '../reading/refused.ts'
import { normaliseSymbol } from '../symbols/normalise-symbol.ts'
import { writeRows } from './row-set.ts'
import type { ParsedFile, RawFile, Source } from './source.ts'

/** Splits and changes of symbols as companies announce them, listed by the operator: no official file has their ratios. */
export const corporateActions: Source = {
  id: 'actions',
  title: 'Splits and symbol changes listed by the operator',
  publisher: 'the operator',
  dataset: 'actions',
  urlPattern: 'actions*.csv, splits*.csv',
  schedule: { cadence: 'as the operator supplies it', graceMs: 3_650 * 86_400_000, due: () => [] },
  minRequestIntervalMs: 0,
  licence: licences.announced,
  seen: 'published files',
  bytesMax: 8 * 1024 * 1024,
  recognises: (name, head) => /^(actions|splits).*\.csv/.test(name) || /^ticker,date,split/.test(head),
  parse: parseActions,
  // A list of several days is known when the last of them opens: no earlier answer may change by it.
  latestPublicationMs: ({ asOf }) => easternToUtcMs(asOf, 4),
}

const aheadDaysMax = 120

/** `ticker,date,split,new_ticker`: new shares for one old share from that trading day on, or the symbol from then on. */
export function parseActions(file: RawFile): ParsedFile {
  const lines = linesOf(decodeText(file.bytes, 'utf-8'))
  const { at, width } = findColumns(lines[0] ?? '', ',', ['ticker', 'date', 'split'], ['new_ticker'])
  if (lines.length < 2) refuse('empty', 'the file has a header and no rows')
  const rows = writeRows(lines.length - 1, { numbers: ['factor'], texts: ['new_symbol'] })
  const dayOf = dayReader('iso')
  const seen = new Set<string>()
  const days: number[] = []
  let skipped = 0
  for (let i = 1; i < lines.length; i += 1) {
    const cells = cellsOf(lines[i] as string, ',', width, i + 1)
    const [ticker, date] = [cells[at.ticker] as string, cells[at.date] as string]
    const day = dayOf(date) ?? refuse('date', `line ${i + 1} has no date: ${shown(date)}`)
    if (seen.has(`${ticker} ${day}`)) refuse('duplicate', `${shown(ticker)} occurs twice on ${shown(date)}`)
    seen.add(`${ticker} ${day}`)
    days.push(day)
    const factor = readFactor(cells[at.split] as string)
    const newTicker = at.new_ticker === undefined ? '' : (cells[at.new_ticker] as string).trim()
    if (factor === null && newTicker === '') refuse('row', `line ${i + 1} has neither a split nor a new symbol`)
    const symbol = normaliseSymbol(ticker, 'sec')
    const newSymbol = newTicker === '' ? null : normaliseSymbol(newTicker, 'sec')
    if (symbol === undefined || newSymbol === undefined || newSymbol === symbol) {
      skipped += 1
      continue
    }
    const row = rows.add(symbol, day)
    rows.set('factor', row, factor)
    rows.setText('new_symbol', row, newSymbol)
  }
  const [from, asOf]: [IsoDate, IsoDate] = [fromDayNumber(Math.min(...days)), fromDayNumber(Math.max(...days))]
  if (asOf > addDays(easternDate(file.nowMs), aheadDaysMax))
    refuse('future_date', `the list reaches to ${asOf}, more than ${aheadDaysMax} days ahead`)
  const period = from === asOf ? asOf : `${from}..${asOf}`
  return { part: 'list', period, asOf, rows: rows.done(), skipped: { 'not a symbol': skipped } }
}

/** `3`, `0.3333333333333333`, or new for old as some vendors write it: `1/3`. */
const ratio = /^(\d{1,7}(?:\.\d{1,25})?)(?:\/(\d{1,7}(?:\.\d{1,25})?))?$/

/** A new share for a million old ones is the most that is believed, either way. */
function readFactor(text: string): number | null {
  if (text.trim() === '') return null
  const [, above, below = '1'] = ratio.exec(text.trim()) ?? []
  const factor = Number(above) / Number(below)
  return factor >= 1e-6 && factor <= 1e6 ? factor : refuse('number', `not a split: ${shown(text)}`)
}
