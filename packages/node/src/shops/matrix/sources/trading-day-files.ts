import type { IsoDate } from '../calendar/dates.ts'
import { easternDate } from '../calendar/eastern-time.ts'
import { isTradingDay, previousTradingDay, tradingDaysUpTo } from '../calendar/trading-days.ts'
import type { DueFile, Schedule } from './source.ts'

/** Trading days that a figure is compared with: the factors want so many before the newest. */
export const factorDays = 60
/** Lists in a row that are looked through for how long a security has been on them. */
export const listDays = 40

/** Files of a publisher with one file, or one for each market, per trading day: the newest `wanted` days first. */
export function tradingDayFiles(
  wanted: number,
  filesOf: (day: IsoDate) => readonly DueFile[],
): Required<Pick<Schedule, 'due' | 'files'>> {
  return {
    // The newest days may not be out yet.
    due: (nowMs) => {
      const days = tradingDaysUpTo(easternDate(nowMs), wanted + 3).reverse()
      const published = days.map((day) => filesOf(day).filter(({ dueAtMs }) => dueAtMs <= nowMs))
      return published
        .filter((files) => files.length > 0)
        .slice(0, wanted)
        .flat()
    },
    files: (from, to) => {
      const files: DueFile[] = []
      for (let day = isTradingDay(to) ? to : previousTradingDay(to); day >= from; day = previousTradingDay(day))
        files.push(...filesOf(day))
      return files
    },
  }
}
