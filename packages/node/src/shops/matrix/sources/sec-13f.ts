import { addDays, fromMonthName, type IsoDate, monthNames, toDayNumber } from '../calendar/dates.ts'
import { easternDate, easternToUtcMs } from '../calendar/eastern-time.ts'
import { nextMonth } from '../calendar/trading-days.ts'
import { licences } from '../licences/licence.ts'
import { findColumns } from '../reading/columns.ts'
import { readQuantity } from '../reading/decimal.ts'
import { decodeText, linesOf } from '../reading/decode-text.ts'
import { refuse, shown } from '../reading/refused.ts'
import { isZip, unzip } from '../reading/unzip.ts'
import { refuseFuture } from './check-dates.ts'
import { writeRows } from './row-set.ts'
import type { DueFile, ParsedFile, RawFile, Source } from './source.ts'

const unpackedBytesMax = 900 * 1024 * 1024

/** What institutions held at a quarter's end, by CUSIP: an upper bound of what could be lent, 45 days late. */
export const sec13f: Source = {
  id: 'sec-13f',
  title: 'Form 13F data sets',
  publisher: 'U.S. SEC',
  dataset: 'holdings',
  urlPattern: 'https://www.sec.gov/files/structureddata/data/form-13f-data-sets/01mmmyyyy-ddmmmyyyy_form13f.zip',
  schedule: { cadence: 'every three months', graceMs: 40 * 86_400_000, due: dueSets, files: setsBetween },
  minRequestIntervalMs: 500,
  licence: licences.sec,
  seen: 'documented layout',
  bytesMax: 256 * 1024 * 1024,
  recognises: (name) => /form13f.*\.zip$/i.test(name),
  parse: parse13f,
  latestPublicationMs: ({ asOf }) => easternToUtcMs(addDays(asOf, 75), 20),
}

type Submission = { period: IsoDate; cik: string; filed: IsoDate }

export function parse13f(file: RawFile): ParsedFile {
  if (!isZip(file.bytes)) return refuse('archive', 'a 13F data set is a zip archive')
  const entries = unzip(file.bytes, { bytesMax: unpackedBytesMax, ratioMax: 60 }, (name) =>
    /(SUBMISSION|INFOTABLE)\.tsv$/i.test(name),
  )
  const table = (name: string) =>
    entries.find((entry) => entry.name.toUpperCase().endsWith(`${name}.TSV`))?.bytes ??
    refuse('archive', `${name}.tsv is missing`)
  const submissions = readSubmissions(table('SUBMISSION'))
  const period = newestPeriod(submissions)
  refuseFuture(period, file.nowMs)
  const { held, skipped } = sumHoldings(table('INFOTABLE'), submissions, period)
  const rows = writeRows(held.size, { numbers: ['holders', 'shares', 'value_usd'] })
  for (const cusip of [...held.keys()].sort()) {
    const sum = held.get(cusip) as Held
    const row = rows.add(`CUSIP:${cusip}`, toDayNumber(period))
    rows.set('holders', row, sum.filers.size)
    rows.set('shares', row, sum.shares)
    rows.set('value_usd', row, sum.value)
  }
  const lastFiled = [...submissions.values()].reduce((latest, one) => (one.filed > latest ? one.filed : latest), '')
  refuseFuture(lastFiled, file.nowMs, 'a filing')
  return { part: 'all', period, asOf: period, rows: rows.done(), skipped }
}

function readSubmissions(bytes: Uint8Array): Map<string, Submission> {
  const lines = linesOf(decodeText(bytes, 'utf-8'))
  const { at } = findColumns(lines[0] ?? '', '\t', [
    'ACCESSION_NUMBER',
    'FILING_DATE',
    'SUBMISSIONTYPE',
    'CIK',
    'PERIODOFREPORT',
  ])
  const submissions = new Map<string, Submission>()
  for (let i = 1; i < lines.length; i += 1) {
    const cells = (lines[i] as string).split('\t')
    const accession = cells[at.ACCESSION_NUMBER] ?? ''
    if (!/^\d{10}-\d{2}-\d{6}$/.test(accession))
      refuse('row', `SUBMISSION line ${i + 1}: not an accession number: ${shown(accession)}`)
    if (submissions.has(accession)) refuse('duplicate', `${accession} occurs twice`)
    // Notices hold nothing, and an amendment may repeat what was filed before.
    if (cells[at.SUBMISSIONTYPE] !== '13F-HR') continue
    submissions.set(accession, {
      cik: cells[at.CIK] ?? '',
      filed: dateOf(cells[at.FILING_DATE] ?? ''),
      period: dateOf(cells[at.PERIODOFREPORT] ?? ''),
    })
  }
  return submissions
}

const dateOf = (text: string) => fromMonthName(text) ?? refuse('date', `not a date: ${shown(text)}`)

/** A set also holds late filings for older quarters: it is about the quarter most of its filings are about. */
function newestPeriod(submissions: ReadonlyMap<string, Submission>): IsoDate {
  const counts = new Map<IsoDate, number>()
  for (const { period } of submissions.values()) counts.set(period, (counts.get(period) ?? 0) + 1)
  const [most] = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? 1 : -1))
  return most ? most[0] : refuse('empty', 'the set has no holdings reports')
}

type Held = { shares: number; value: number; filers: Set<string> }

function sumHoldings(bytes: Uint8Array, submissions: ReadonlyMap<string, Submission>, period: IsoDate) {
  const skipped = { 'other quarter or amendment': 0, options: 0, 'principal amounts': 0, 'not a CUSIP': 0 }
  const held = new Map<string, Held>()
  let at: Record<'ACCESSION_NUMBER' | 'CUSIP' | 'VALUE' | 'SSHPRNAMT' | 'SSHPRNAMTTYPE' | 'PUTCALL', number> | undefined
  eachLine(bytes, (line, number) => {
    if (!at) {
      at = findColumns(line, '\t', ['ACCESSION_NUMBER', 'CUSIP', 'VALUE', 'SSHPRNAMT', 'SSHPRNAMTTYPE', 'PUTCALL']).at
      return
    }
    const cells = line.split('\t')
    if (cells.length < 8) refuse('row', `INFOTABLE line ${number} has ${cells.length} cells`)
    const submission = submissions.get(cells[at.ACCESSION_NUMBER] as string)
    const cusip = (cells[at.CUSIP] as string).toUpperCase()
    if (!submission || submission.period !== period) skipped['other quarter or amendment'] += 1
    else if ((cells[at.PUTCALL] ?? '').trim() !== '') skipped.options += 1
    else if (cells[at.SSHPRNAMTTYPE] !== 'SH') skipped['principal amounts'] += 1
    else if (!/^[0-9A-Z]{9}$/.test(cusip)) skipped['not a CUSIP'] += 1
    else {
      const sum = held.get(cusip) ?? { shares: 0, value: 0, filers: new Set() }
      held.set(cusip, sum)
      sum.shares += readQuantity(cells[at.SSHPRNAMT] as string, 'the number of shares')
      sum.value += readQuantity(cells[at.VALUE] as string, 'the value')
      sum.filers.add(submission.cik)
    }
  })
  return { held, skipped }
}

/** Line by line over the bytes: as one string the table of a quarter would not fit. */
function eachLine(bytes: Uint8Array, take: (line: string, number: number) => void): void {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let start = 0
  for (let number = 1; start < data.length; number += 1) {
    const found = data.indexOf(10, start)
    const end = found < 0 ? data.length : found
    const stop = end > start && data[end - 1] === 13 ? end - 1 : end
    if (stop > start) take(data.toString('utf8', start, stop), number)
    start = end + 1
  }
}

function dueSets(nowMs: number): DueFile[] {
  const today = easternDate(nowMs)
  return setsBetween(addDays(today, -500), today)
    .filter(({ dueAtMs }) => dueAtMs <= nowMs)
    .slice(0, 2)
}

/** Sets cover filings of three months: December to February, March to May, and so on; most report the end of the first. */
function setsBetween(from: IsoDate, to: IsoDate): DueFile[] {
  const files: DueFile[] = []
  for (let month = from.slice(0, 7); month <= to.slice(0, 7); month = nextMonth(month)) {
    if (Number(month.slice(5)) % 3 !== 0) continue
    const end = addDays(`${nextMonth(nextMonth(nextMonth(month)))}-01`, -1)
    const name = `${setDate(`${month}-01`)}-${setDate(end)}_form13f.zip`
    files.unshift({
      url: `https://www.sec.gov/files/structureddata/data/form-13f-data-sets/${name}`,
      name,
      period: addDays(`${nextMonth(month)}-01`, -1),
      dueAtMs: easternToUtcMs(addDays(end, 20), 20),
    })
  }
  return files
}

const setDate = (date: IsoDate) =>
  `${date.slice(8)}${(monthNames[Number(date.slice(5, 7)) - 1] as string).toLowerCase()}${date.slice(0, 4)}`
