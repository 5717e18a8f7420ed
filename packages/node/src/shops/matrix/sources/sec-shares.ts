import { addDays, type IsoDate, isIsoDate, toDayNumber } from '../calendar/dates.ts'
import { easternDate, easternToUtcMs } from '../calendar/eastern-time.ts'
import { nextMonth } from '../calendar/trading-days.ts'
import { licences } from '../licences/licence.ts'
import { readJson } from '../reading/read-json.ts'
import { refuse, shown } from '../reading/refused.ts'
import { refuseFuture } from './check-dates.ts'
import { type RowWriter, writeRows } from './row-set.ts'
import type { DueFile, ParsedFile, RawFile, Source } from './source.ts'

type Fact = { end?: unknown; val?: unknown; accn?: unknown; filed?: unknown; form?: unknown; cik?: unknown }

/** What the cover pages say: how many shares there are, and once a year what those of others than insiders are worth. */
const concepts = {
  EntityCommonStockSharesOutstanding: { column: 'shares', unit: 'shares', part: '' },
  EntityPublicFloat: { column: 'float_usd', unit: 'USD', part: 'float-' },
} as const
type Concept = keyof typeof concepts
const isConcept = (tag: unknown): tag is Concept => typeof tag === 'string' && Object.hasOwn(concepts, tag)

/** Whole market by quarter (frames), or one company with all filing dates. */
export const secShares: Source = {
  id: 'sec-shares',
  title: 'Shares outstanding and public float (XBRL cover pages)',
  publisher: 'U.S. SEC',
  dataset: 'shares',
  urlPattern: 'https://data.sec.gov/api/xbrl/frames/dei/EntityCommonStockSharesOutstanding/shares/CYyyyyQnI.json',
  schedule: {
    cadence: 'as companies file; the newest two quarters are read every day, those of a year once',
    graceMs: 3 * 86_400_000,
    due: dueQuarters,
    files: quarterFrames,
  },
  minRequestIntervalMs: 500,
  licence: licences.sec,
  seen: 'published files',
  bytesMax: 64 * 1024 * 1024,
  recognises: (name, head) =>
    /^(frames-shares-|CIK\d{10})/.test(name) || Object.keys(concepts).some((tag) => head.includes(`"${tag}"`)),
  parse: parseShares,
  latestPublicationMs: ({ asOf }) => easternToUtcMs(addDays(asOf, 60), 20),
}

export function parseShares(file: RawFile): ParsedFile {
  const document = readJson(file.bytes) as Record<string, unknown>
  return document !== null && typeof document === 'object' && Array.isArray(document.data)
    ? parseFrame(document, file)
    : parseCompanyFacts(document, file)
}

const columns = { numbers: ['shares', 'filed_day', 'float_usd'], texts: ['accession'] }

/** One value a company; frames carry no filing date, so such a value is known from the day the file was read. */
function parseFrame(document: Record<string, unknown>, file: RawFile): ParsedFile {
  const { data, pts, tag, ccp } = document
  if (!isConcept(tag) || typeof ccp !== 'string' || !/^CY\d{4}Q[1-4]I$/.test(ccp))
    return refuse('header', `the frame is of ${shown(String(tag))}, ${shown(String(ccp))}`)
  const facts = data as Fact[]
  if (pts !== facts.length) refuse('count', `pts says ${String(pts)} values and there are ${facts.length}`)
  const rows = writeRows(facts.length, columns)
  const seen = new Set<number>()
  let newest = ''
  for (const fact of facts) {
    const cik = cikOf(fact.cik)
    if (seen.has(cik)) refuse('duplicate', `the company ${cik} occurs twice`)
    seen.add(cik)
    const end = addFact(rows, cik, fact, tag)
    if (end > newest) newest = end
  }
  if (newest === '') return refuse('empty', 'the frame has no values')
  refuseFuture(newest, file.nowMs)
  return { part: `${concepts[tag].part}${ccp}`, period: ccp, asOf: newest, rows: rows.done(), skipped: {} }
}

function parseCompanyFacts(document: Record<string, unknown>, file: RawFile): ParsedFile {
  const facts = companyFacts(document)
  const cik = cikOf(document?.cik)
  const rows = writeRows(facts.length, columns)
  let newest = ''
  let newestFiled = ''
  for (const { fact, tag } of facts) {
    const end = addFact(rows, cik, fact, tag)
    const filed = String(fact.filed)
    if (!isIsoDate(filed)) refuse('date', `not a filing date: ${shown(filed)}`)
    if (end > newest) newest = end
    if (filed > newestFiled) newestFiled = filed
  }
  if (newest === '') return refuse('empty', 'the company has no such fact')
  refuseFuture(newestFiled, file.nowMs)
  return {
    part: `CIK${String(cik).padStart(10, '0')}`,
    period: newestFiled,
    asOf: newest,
    stampedAtMs: easternToUtcMs(newestFiled, 22),
    rows: rows.done(),
    skipped: {},
  }
}

/** The shares must be there; the float only where the company has filed a yearly report. */
function companyFacts(document: Record<string, unknown>): { fact: Fact; tag: Concept }[] {
  const dei = (document?.facts as Record<string, unknown> | undefined)?.dei as Record<string, unknown> | undefined
  const of = (tag: Concept) => {
    const facts = (dei?.[tag] as { units?: Record<string, unknown> } | undefined)?.units?.[concepts[tag].unit]
    return Array.isArray(facts) ? (facts as Fact[]).map((fact) => ({ fact, tag })) : undefined
  }
  const shares = of('EntityCommonStockSharesOutstanding')
  if (!shares) return refuse('header', 'dei:EntityCommonStockSharesOutstanding is missing')
  return [...shares, ...(of('EntityPublicFloat') ?? [])]
}

function addFact(rows: RowWriter, cik: number, fact: Fact, tag: Concept): string {
  const { end, val, accn, filed } = fact ?? {}
  if (typeof end !== 'string' || !isIsoDate(end)) return refuse('date', `not a date: ${shown(String(end))}`)
  if (typeof val !== 'number' || !Number.isFinite(val) || val < 0)
    return refuse('number', `not a value of ${tag}: ${shown(String(val))}`)
  if (typeof accn !== 'string' || !/^\d{10}-\d{2}-\d{6}$/.test(accn))
    return refuse('row', `not an accession number: ${shown(String(accn))}`)
  const row = rows.add(`CIK:${cik}`, toDayNumber(end))
  rows.set(concepts[tag].column, row, val)
  if (typeof filed === 'string' && isIsoDate(filed)) rows.set('filed_day', row, toDayNumber(filed))
  rows.setText('accession', row, accn)
  return end
}

export function cikOf(value: unknown): number {
  const cik = typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : value
  return typeof cik === 'number' && Number.isSafeInteger(cik) && cik > 0 && cik < 10_000_000_000
    ? cik
    : refuse('row', `not a CIK: ${shown(String(value))}`)
}

/** A year of quarters, for companies that report once in it. The newest two still fill: they are read every day. */
function dueQuarters(nowMs: number): DueFile[] {
  const yesterday = addDays(easternDate(nowMs), -1)
  return quarterFrames(addDays(yesterday, -370), yesterday).map((file, index) =>
    index < 2 ? { ...file, dueAtMs: easternToUtcMs(yesterday, 6) } : file,
  )
}

function quarterFrames(from: IsoDate, to: IsoDate): DueFile[] {
  const files: DueFile[] = []
  for (let month = from.slice(0, 7); month <= to.slice(0, 7); month = nextMonth(month)) {
    const [year, number] = [month.slice(0, 4), Math.ceil(Number(month.slice(5)) / 3)]
    const quarter = `CY${year}Q${number}I`
    if (files[0]?.period === quarter) continue
    files.unshift({
      url: `https://data.sec.gov/api/xbrl/frames/dei/EntityCommonStockSharesOutstanding/shares/${quarter}.json`,
      name: `frames-shares-${quarter}.json`,
      period: quarter,
      // Quarters are filed for within some six weeks of their end.
      dueAtMs: easternToUtcMs(addDays(`${year}-${String(number * 3).padStart(2, '0')}-28`, 45), 6),
    })
  }
  return files
}
