import { addDays, type IsoDate } from '../calendar/dates.ts'
import { easternDate, easternToUtcMs } from '../calendar/eastern-time.ts'
import { addTradingDays, nextMonth, settlementDates, tradingDaysUpTo } from '../calendar/trading-days.ts'
import { sourceOf } from '../sources/catalogue.ts'
import type { SourceId } from '../sources/source.ts'
import { fieldsPublicMs } from '../sources/vendor-fields.ts'
import { createDemoSecurities, type DemoSecurity } from './demo-securities.ts'
import {
  borrowFile,
  coversFiledDays,
  type DemoFile,
  directoryFiles,
  failsFile,
  fieldsFile,
  framesFile,
  haltsFile,
  holdingsDays,
  holdingsFile,
  priceFile,
  shortInterestFile,
  shortVolumeFile,
  thresholdFile,
  tickersFile,
} from './write-files.ts'

/** One file to make when its turn comes. */
export type PlannedFile = {
  source: SourceId
  /** Names the file among those of its source. */
  key: string
  make(): DemoFile
}

export type DemoSize = { symbols: number; tradingDays: number }

export const smallDemo: DemoSize = { symbols: 600, tradingDays: 22 }
/** Enough history to evaluate the rankings, soon after the start. */
export const evaluatedDemo: DemoSize = { symbols: 600, tradingDays: 75 }
export const fullDemo: DemoSize = { symbols: 5_000, tradingDays: 90 }

/** All files of the demo, what is seen first in front. The last day is one whose every list has long been public. */
export function planDemo(nowMs: number, size: DemoSize): PlannedFile[] {
  const last = lastPublicDay(nowMs)
  const days = tradingDaysUpTo(last, size.tradingDays).reverse()
  const oldest = days[days.length - 1] as IsoDate
  const all = createDemoSecurities(size.symbols)
  const plan = (source: SourceId, key: string, make: () => DemoFile): PlannedFile => ({
    source,
    key: `${source} ${key}`,
    make,
  })
  const small = size.tradingDays < 60
  return [
    ...[0, 1].map((index) =>
      plan('nasdaq-directory', `${index} ${last}`, () => directoryFiles(all, last)[index] as DemoFile),
    ),
    plan('sec-tickers', last, () => tickersFile(all, last)),
    ...quarterEnds(addDays(last, -coversFiledDays - 1), small ? 1 : 3).map((end) =>
      plan('sec-shares', end, () => framesFile(all, frameName(end), end)),
    ),
    ...settlements(oldest, last, small).map(([now, before]) =>
      plan('finra-short-interest', now, () => shortInterestFile(all, now, before)),
    ),
    ...halves(oldest, last, small).map((half) => plan('sec-fails', half, () => failsFile(all, half, last))),
    ...quarterEnds(addDays(last, -holdingsDays - 1), 1).map((end) =>
      plan('sec-13f', end, () => holdingsFile(all, end)),
    ),
    ...['09:15:00', '13:15:00'].map((time) =>
      plan('ibkr-borrow', `${last} ${time}`, () => borrowFile(all, last, time)),
    ),
    ...days
      .filter((day) => fieldsPublicMs(day) <= nowMs - settledMs)
      .slice(0, small ? 2 : 40)
      .map((day) => plan('vendor-fields', day, () => fieldsFile(all, day))),
    ...days.slice(0, small ? 5 : 30).flatMap((day) => dailyLists(all, day, nowMs, plan)),
    ...days.flatMap((day) => [
      plan('finra-short-volume', day, () => shortVolumeFile(all, day)),
      plan('prices', day, () => priceFile(all, day)),
    ]),
    ...(small
      ? []
      : [
          ...days
            .slice(1, 40)
            .map((day) => plan('ibkr-borrow', `${day} 09:15:00`, () => borrowFile(all, day, '09:15:00'))),
          // Names and numbers of companies as they were known in the past: without them no day of it can be evaluated.
          ...[0, 1].map((index) =>
            plan('nasdaq-directory', `${index} ${oldest}`, () => directoryFiles(all, oldest)[index] as DemoFile),
          ),
          plan('sec-tickers', oldest, () => tickersFile(all, oldest)),
        ]),
  ]
}

/** Longer than the delay of the free tier, so that it has the same day. */
const settledMs = 70 * 60_000

/** The last trading day whose evening lists have been public for a while. */
function lastPublicDay(nowMs: number): IsoDate {
  const [before, newest] = tradingDaysUpTo(easternDate(nowMs), 2) as [IsoDate, IsoDate]
  return easternToUtcMs(newest, 23, 15) <= nowMs - settledMs ? newest : before
}

function dailyLists(
  all: readonly DemoSecurity[],
  day: IsoDate,
  nowMs: number,
  plan: (source: SourceId, key: string, make: () => DemoFile) => PlannedFile,
): PlannedFile[] {
  return [
    plan('nasdaq-threshold', day, () => thresholdFile(all, 'nasdaq', day)),
    plan('nyse-threshold', day, () => thresholdFile(all, 'nyse', day)),
    ...(sourceOf('cboe-threshold').latestPublicationMs({ period: day, asOf: day }) <= nowMs - settledMs
      ? [plan('cboe-threshold', day, () => thresholdFile(all, 'cboe', day))]
      : []),
    plan('nasdaq-halts', day, () => haltsFile(all, day)),
  ]
}

/** Settlement dates whose short interest is public by the last day, newest first, each with the one before it. */
function settlements(oldest: IsoDate, last: IsoDate, small: boolean): [IsoDate, IsoDate][] {
  const dates = settlementDates(addDays(oldest, -60), addTradingDays(last, -9))
  const pairs = dates.slice(1).map((date, index): [IsoDate, IsoDate] => [date, dates[index] as IsoDate])
  return pairs.reverse().slice(0, small ? 2 : 12)
}

function halves(oldest: IsoDate, last: IsoDate, small: boolean): string[] {
  const found: string[] = []
  for (let month = addDays(oldest, -31).slice(0, 7); month <= last.slice(0, 7); month = nextMonth(month)) {
    const after = `${nextMonth(month)}-01`
    if (addDays(after, -1) < last) found.push(`${month}a`)
    if (addDays(after, 16) < last) found.push(`${month}b`)
  }
  return found.reverse().slice(0, small ? 2 : 14)
}

function quarterEnds(last: IsoDate, count: number): IsoDate[] {
  const ends: IsoDate[] = []
  for (let year = Number(last.slice(0, 4)); ends.length < count; year -= 1)
    for (const end of ['12-31', '09-30', '06-30', '03-31'])
      if (`${year}-${end}` < last && ends.length < count) ends.push(`${year}-${end}`)
  return ends
}

const frameName = (end: IsoDate) => `CY${end.slice(0, 4)}Q${Number(end.slice(5, 7)) / 3}I`
