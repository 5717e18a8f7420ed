import { addDays, type IsoDate } from '../calendar/dates.ts'
import { easternDate } from '../calendar/eastern-time.ts'
import { refuse } from '../reading/refused.ts'

/** Data of tomorrow cannot be published today; a clock one day off is forgiven. */
export function refuseFuture(date: IsoDate, nowMs: number, what = 'the file'): void {
  if (date > addDays(easternDate(nowMs), 1)) refuse('future_date', `${what} is dated ${date}, which has not come yet`)
}

/** The date in the name must be the date inside: a mislabelled file would land on the wrong day. */
export function refuseOtherDate(name: string, inside: IsoDate): void {
  const named = /(?<!\d)(20\d{2})(\d{2})(\d{2})(?!\d)/.exec(name)
  if (named && `${named[1]}-${named[2]}-${named[3]}` !== inside)
    refuse('date', `the file is named for ${named[1]}-${named[2]}-${named[3]} and contains ${inside}`)
}
