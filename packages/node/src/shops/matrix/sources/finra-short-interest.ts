import { addDays, type IsoDate, isIsoDate, toBasic, toDayNumber } from '../calendar/dates.ts'
import { easternDate, easternToUtcMs } from '../calendar/eastern-time.ts'
import { addTradingDays, settlementDates } from '../calendar/trading-days.ts'
import { licences } from '../licences/licence.ts'
import { cellsOf, findColumns } from '../reading/columns.ts'
import { readDecimal, readOptional, readQuantity } from '../reading/decimal.ts'
import { decodeText, linesOf } from '../reading/decode-text.ts'
import { refuse, shown } from '../reading/refused.ts'
import { normaliseSymbol } from '../symbols/normalise-symbol.ts'
import { refuseFuture, refuseOtherDate } from './check-dates.ts'
import { writeRows } from './row-set.ts'
import type { DueFile, ParsedFile, RawFile, Source } from './source.ts'

/** Firms report two days after settlement, FINRA publishes about seven business days after that. */
const publishedAfterDays = 9

export const finraShortInterest: Source = {
  id: 'finra-short-interest',
  title: 'Consolidated short interest',
  publisher: 'FINRA',
  dataset: 'short_interest',
  urlPattern: 'https://cdn.finra.org/equity/otcmarket/biweekly/shrtYYYYMMDD.csv',
  schedule: {
    cadence: 'twice a month, about nine business days after settlement',
    graceMs: 8 * 86_400_000,
    due: (nowMs) =>
      settlementFiles(addDays(easternDate(nowMs), -75), easternDate(nowMs)).filter(({ dueAtMs }) => dueAtMs <= nowMs),
    files: settlementFiles,
  },
  minRequestIntervalMs: 1_000,
  licence: licences.finra,
  seen: 'documented layout',
  bytesMax: 32 * 1024 * 1024,
  recognises: (name, head) => /^shrt\d{8}\.csv/.test(name) || head.startsWith('accountingYearMonthNumber|symbolCode|'),
  parse: parseShortInterest,
  latestPublicationMs: ({ asOf }) => easternToUtcMs(addTradingDays(asOf, publishedAfterDays), 18),
}

function settlementFiles(from: IsoDate, to: IsoDate): DueFile[] {
  return settlementDates(from, to)
    .reverse()
    .map((date) => ({
      url: `https://cdn.finra.org/equity/otcmarket/biweekly/shrt${toBasic(date)}.csv`,
      name: `shrt${toBasic(date)}.csv`,
      period: date,
      dueAtMs: easternToUtcMs(addTradingDays(date, publishedAfterDays), 18),
    }))
}

/** With no average volume the publisher writes one of these instead of nothing. */
const daysToCoverSentinels = new Set([999.99, 1000])

export function parseShortInterest(file: RawFile): ParsedFile {
  const lines = linesOf(decodeText(file.bytes, 'utf-8'))
  const { at, width } = findColumns(lines[0] ?? '', '|', [
    'symbolCode',
    'currentShortPositionQuantity',
    'previousShortPositionQuantity',
    'stockSplitFlag',
    'averageDailyVolumeQuantity',
    'daysToCoverQuantity',
    'revisionFlag',
    'settlementDate',
  ])
  if (lines.length < 2) refuse('empty', 'the file has a header and no rows')
  const rows = writeRows(lines.length - 1, {
    numbers: ['position', 'previous_position', 'average_volume', 'days_to_cover', 'split', 'prior_revised'],
  })
  const seen = new Set<string>()
  let skipped = 0
  let settlement = ''
  for (let i = 1; i < lines.length; i += 1) {
    const cells = cellsOf(lines[i] as string, '|', width, i + 1)
    const date = cells[at.settlementDate] as string
    if (settlement === '') {
      if (!isIsoDate(date)) refuse('date', `line ${i + 1} has no settlement date: ${shown(date)}`)
      settlement = date
    } else if (date !== settlement) refuse('date', `line ${i + 1} settles on ${shown(date)} in a file of ${settlement}`)
    const raw = cells[at.symbolCode] as string
    if (seen.has(raw)) refuse('duplicate', `${shown(raw)} occurs twice`)
    seen.add(raw)
    const position = readQuantity(cells[at.currentShortPositionQuantity] as string, 'the short position')
    const symbol = normaliseSymbol(raw, 'finra')
    if (symbol === undefined) {
      skipped += 1
      continue
    }
    const row = rows.add(symbol, toDayNumber(settlement))
    const averageVolume = readOptional(cells[at.averageDailyVolumeQuantity] as string, 'the average volume')
    rows.set('position', row, position)
    rows.set(
      'previous_position',
      row,
      readOptional(cells[at.previousShortPositionQuantity] as string, 'the previous position'),
    )
    rows.set('average_volume', row, averageVolume)
    rows.set('days_to_cover', row, daysToCover(cells[at.daysToCoverQuantity] as string, averageVolume))
    rows.set('split', row, readFlag(cells[at.stockSplitFlag] as string, 'S'))
    rows.set('prior_revised', row, readFlag(cells[at.revisionFlag] as string, 'R'))
  }
  refuseFuture(settlement, file.nowMs)
  refuseOtherDate(file.name, settlement)
  return { part: 'all', period: settlement, asOf: settlement, rows: rows.done(), skipped: { 'not a symbol': skipped } }
}

function daysToCover(text: string, averageVolume: number | null): number | null {
  const trimmed = text.trim()
  if (trimmed === '' || trimmed.toLowerCase() === 'null') return null
  const value = readDecimal(trimmed, 'days to cover')
  return daysToCoverSentinels.has(value) || averageVolume === 0 ? null : value
}

function readFlag(text: string, letter: string): number {
  const flag = text.trim()
  if (flag === letter) return 1
  return flag === '' || flag.toLowerCase() === 'null' ? 0 : refuse('row', `not a flag: ${shown(text)}`)
}
