import { addDays, fromDayNumber, type IsoDate } from '../calendar/dates.ts'
import { easternDate, easternToUtcMs } from '../calendar/eastern-time.ts'
import { licences } from '../licences/licence.ts'
import { cellsOf, findColumns, splitRow } from '../reading/columns.ts'
import { dayReader } from '../reading/day-reader.ts'
import { readPrice } from '../reading/decimal.ts'
import { decodeText, linesOf } from '../reading/decode-text.ts'
import { refuse, shown } from '../reading/refused.ts'
import { normaliseSymbol } from '../symbols/normalise-symbol.ts'
import { refuseFuture, refuseOtherDate } from './check-dates.ts'
import { writeRows } from './row-set.ts'
import type { ParsedFile, RawFile, Source } from './source.ts'

/** What no official file has, and what a figure can be at most and at least. */
const bounds = {
  utilisation_pct: [0, 100],
  lending_fee_pct: [-100, 100_000],
  implied_volatility_30d_pct: [0, 100_000],
  put_call_open_interest: [0, 1_000_000],
} as const

export type FieldName = keyof typeof bounds
export const fieldNames = Object.keys(bounds) as FieldName[]

/** Lending and option figures by symbol and day, from the vendor that the operator has them from. */
export const vendorFields: Source = {
  id: 'vendor-fields',
  title: 'Utilisation, borrow fee and option figures of a licensed vendor',
  publisher: 'the operator',
  dataset: 'fields',
  urlPattern: 'fields*.csv, or what FIELDS_SOURCE names',
  schedule: { cadence: 'as the operator supplies it', graceMs: 4 * 86_400_000, due: () => [] },
  minRequestIntervalMs: 0,
  licence: licences.vendor,
  seen: 'documented layout',
  bytesMax: 128 * 1024 * 1024,
  recognises: (name, head) =>
    /^fields.*\.csv/.test(name) || new RegExp(`^ticker,date,(published_at,)?(${fieldNames.join('|')})\\b`).test(head),
  parse: parseFields,
  latestPublicationMs: ({ asOf }) => fieldsPublicMs(asOf),
}

/** Vendors deliver a day before the next one opens. */
export const fieldsPublicMs = (day: IsoDate) => easternToUtcMs(addDays(day, 1), 8)

/** `ticker,date,published_at` and any of the fields; only the first two and one field must be there. */
export function parseFields(file: RawFile): ParsedFile {
  const text = decodeText(file.bytes, 'utf-8')
  // There is no trailer to compare with.
  if (!text.endsWith('\n')) refuse('row', 'the last line does not end: the file is cut off')
  const lines = linesOf(text)
  const { at, width, present } = readHeader(lines[0] ?? '')
  const rows = writeRows(lines.length - 1, { numbers: fieldNames })
  const [dayOf, momentOf] = [dayReader('iso'), momentReader()]
  const seen = new Set<string>()
  const skipped = { 'not a symbol': 0, 'no figure': 0, 'out of bounds': 0 }
  let [first, last, published] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (let i = 1; i < lines.length; i += 1) {
    const cells = cellsOf(lines[i] as string, ',', width, i + 1)
    const [ticker, date] = [cells[at.ticker] as string, cells[at.date] as string]
    const day = dayOf(date) ?? refuse('date', `line ${i + 1} has no date: ${shown(date)}`)
    if (seen.has(`${ticker} ${day}`)) refuse('duplicate', `${shown(ticker)} occurs twice on ${shown(date)}`)
    seen.add(`${ticker} ${day}`)
    if (at.published_at !== undefined) published = Math.max(published, momentOf(cells[at.published_at] as string, date))
    first = Math.min(first, day)
    last = Math.max(last, day)
    const figures = present.map((name) => readPrice(cells[at[name] as number] as string, name))
    const symbol = normaliseSymbol(ticker, 'sec')
    if (symbol === undefined) skipped['not a symbol'] += 1
    else if (figures.every((figure) => figure === null)) skipped['no figure'] += 1
    else if (!figures.every((figure, place) => isWithin(present[place] as FieldName, figure)))
      skipped['out of bounds'] += 1
    else {
      const row = rows.add(symbol, day)
      for (const [place, name] of present.entries()) rows.set(name, row, figures[place] as number | null)
    }
  }
  const taken = rows.done()
  if (taken.count === 0) refuse('empty', `of ${seen.size} rows none has a symbol and a figure`)
  const [from, asOf] = [fromDayNumber(first), fromDayNumber(last)]
  refuseFuture(asOf, file.nowMs)
  if (published > Number.NEGATIVE_INFINITY) refuseFuture(easternDate(published), file.nowMs, 'the publication')
  if (from === asOf) refuseOtherDate(file.name, asOf)
  return {
    // Two vendors may each bring a part of the fields.
    part: present.join('+'),
    period: from === asOf ? asOf : `${from}..${asOf}`,
    asOf,
    // A file of several days is public when the last of its rows is: no earlier answer may change by it.
    ...(published > Number.NEGATIVE_INFINITY && { stampedAtMs: published }),
    rows: taken,
    skipped,
  }
}

/** A column that is not known would be dropped without a word, such as one that is spelt in another way. */
function readHeader(header: string) {
  const known = ['ticker', 'date', 'published_at', ...fieldNames]
  const names = splitRow(header, ',').map((name) => name.trim().toLowerCase())
  const unknown = names.find((name) => !known.includes(name))
  if (unknown !== undefined) refuse('header', `the column ${shown(unknown)} is none of ${known.join(', ')}`)
  const { at, width } = findColumns(header, ',', ['ticker', 'date'], ['published_at', ...fieldNames])
  const present = fieldNames.filter((name) => at[name] !== undefined)
  if (present.length === 0) refuse('header', `none of the columns ${fieldNames.join(', ')} is there`)
  return { at, width, present }
}

const isWithin = (name: FieldName, figure: number | null) =>
  figure === null || (figure >= bounds[name][0] && figure <= bounds[name][1])

const moment = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})$/

/** Caches parsed times: nearly all of 12,000 rows have the same one. */
function momentReader(): (text: string, date: IsoDate) => number {
  const known = new Map<string, number>()
  return (text, date) => {
    const ms = known.get(text) ?? (moment.test(text) ? Date.parse(text) : Number.NaN)
    if (Number.isNaN(ms)) refuse('date', `published_at is not an RFC 3339 time: ${shown(text)}`)
    if (easternDate(ms) < date) refuse('date', `published ${shown(text)}, before the day ${date} that it describes`)
    known.set(text, ms)
    return ms
  }
}
