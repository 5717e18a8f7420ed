import { fromDayNumber, type IsoDate } from '../../calendar/dates.ts'
import type { VendorFormat } from '../../ingest/vendor-source.ts'
import { refuse, shown } from '../../reading/refused.ts'
import { refuseFuture, refuseOtherDate } from '../check-dates.ts'
import { writeRows } from '../row-set.ts'
import type { ParsedFile, RawFile } from '../source.ts'

/** One day of one security; null where the vendor gave no figure. */
export type Bar = {
  /** Undefined for what is no US symbol. */
  symbol: string | undefined
  /** As the vendor writes it, for messages and for finding it twice. */
  ticker: string
  day: number
  open: number | null
  high: number | null
  low: number | null
  close: number | null
  volume: number | null
}

/** How one vendor writes daily bars, and where they are fetched. */
export type PriceFormat = VendorFormat & {
  id: 'csv' | 'stooq' | 'polygon' | 'eodhd'
  recognises(name: string, head: string): boolean
  /** Passes each bar in the file to `add`; refuses a file that is not of this format. */
  read(file: RawFile, add: (bar: Bar) => void): void
}

const columns = ['open', 'high', 'low', 'close', 'volume'] as const

/** A bar without a usable close is left out and counted. It says nothing of the others, so the file stays. */
export function collectBars(file: RawFile, format: PriceFormat): ParsedFile {
  const bars: Bar[] = []
  const seen = new Map<string, Set<number>>()
  let read = 0
  const skipped = { 'not a symbol': 0, 'no price': 0, negative: 0 }
  let first = Number.POSITIVE_INFINITY
  let last = Number.NEGATIVE_INFINITY
  format.read(file, (bar) => {
    const days = seen.get(bar.ticker) ?? new Set()
    if (days.size === 0) seen.set(bar.ticker, days)
    if (days.has(bar.day)) refuse('duplicate', `${shown(bar.ticker)} occurs twice on ${fromDayNumber(bar.day)}`)
    days.add(bar.day)
    read += 1
    first = Math.min(first, bar.day)
    last = Math.max(last, bar.day)
    if (bar.symbol === undefined) skipped['not a symbol'] += 1
    else if (bar.close === null || bar.close === 0) skipped['no price'] += 1
    // What was adjusted for large dividends can fall below zero.
    else if (columns.some((name) => (bar[name] ?? 0) < 0)) skipped.negative += 1
    else bars.push(bar)
  })
  if (bars.length === 0) refuse('empty', `of ${read} rows none has a symbol and a close`)
  const [from, asOf]: [IsoDate, IsoDate] = [fromDayNumber(first), fromDayNumber(last)]
  refuseFuture(asOf, file.nowMs)
  if (from === asOf) refuseOtherDate(file.name, asOf)
  const rows = writeRows(bars.length, { numbers: columns })
  for (const bar of bars) {
    const row = rows.add(bar.symbol as string, bar.day)
    for (const name of columns) rows.set(name, row, bar[name])
  }
  return {
    part: 'daily',
    period: from === asOf ? asOf : `${from}..${asOf}`,
    asOf,
    rows: rows.done(),
    skipped,
  }
}
