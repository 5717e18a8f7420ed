import { addDays, fromDayNumber, type IsoDate, toDayNumber, weekday } from './dates.ts'

/** Regular days of the US stock market: weekdays without the exchanges' holidays. Closures by decree are not in it. */
export function isTradingDay(date: IsoDate): boolean {
  const day = weekday(date)
  return day !== 0 && day !== 6 && !holidaysOf(Number(date.slice(0, 4))).has(date)
}

export function previousTradingDay(date: IsoDate): IsoDate {
  let day = addDays(date, -1)
  while (!isTradingDay(day)) day = addDays(day, -1)
  return day
}

export function nextTradingDay(date: IsoDate): IsoDate {
  let day = addDays(date, 1)
  while (!isTradingDay(day)) day = addDays(day, 1)
  return day
}

export function addTradingDays(date: IsoDate, count: number): IsoDate {
  let day = date
  for (let i = 0; i < Math.abs(count); i += 1) day = count < 0 ? previousTradingDay(day) : nextTradingDay(day)
  return day
}

/** The last `count` trading days up to and including `last`, oldest first. */
export function tradingDaysUpTo(last: IsoDate, count: number): IsoDate[] {
  const days: IsoDate[] = []
  for (
    let day = isTradingDay(last) ? last : previousTradingDay(last);
    days.length < count;
    day = previousTradingDay(day)
  )
    days.push(day)
  return days.reverse()
}

/** Short interest settles on the 15th and on the last day of a month, rolled back to a trading day. */
export function settlementDates(from: IsoDate, to: IsoDate): IsoDate[] {
  const dates: IsoDate[] = []
  for (let month = from.slice(0, 7); month <= to.slice(0, 7); month = nextMonth(month)) {
    for (const nominal of [`${month}-15`, addDays(`${nextMonth(month)}-01`, -1)]) {
      const date = isTradingDay(nominal) ? nominal : previousTradingDay(nominal)
      if (date >= from && date <= to) dates.push(date)
    }
  }
  return dates
}

export function nextMonth(month: string): string {
  const [year = 0, number = 0] = month.split('-').map(Number)
  return number === 12 ? `${year + 1}-01` : `${year}-${String(number + 1).padStart(2, '0')}`
}

const cache = new Map<number, ReadonlySet<IsoDate>>()

function holidaysOf(year: number): ReadonlySet<IsoDate> {
  let holidays = cache.get(year)
  if (!holidays) {
    holidays = new Set(
      [
        // A New Year's Day on a Saturday is not made up for on the Friday before.
        weekday(`${year}-01-01`) === 6 ? undefined : observed(`${year}-01-01`),
        nthWeekday(year, 1, 1, 3),
        nthWeekday(year, 2, 1, 3),
        addDays(easterSunday(year), -2),
        lastMonday(year, 5),
        year >= 2022 ? observed(`${year}-06-19`) : undefined,
        observed(`${year}-07-04`),
        nthWeekday(year, 9, 1, 1),
        nthWeekday(year, 11, 4, 4),
        observed(`${year}-12-25`),
      ].filter((date) => date !== undefined),
    )
    cache.set(year, holidays)
  }
  return holidays
}

function observed(date: IsoDate): IsoDate {
  const day = weekday(date)
  return day === 6 ? addDays(date, -1) : day === 0 ? addDays(date, 1) : date
}

function nthWeekday(year: number, month: number, day: number, n: number): IsoDate {
  const first = toDayNumber(`${year}-${String(month).padStart(2, '0')}-01`)
  const shift = (day - weekday(fromDayNumber(first)) + 7) % 7
  return fromDayNumber(first + shift + (n - 1) * 7)
}

function lastMonday(year: number, month: number): IsoDate {
  let day = toDayNumber(`${year}-${String(month + 1).padStart(2, '0')}-01`) - 1
  while (weekday(fromDayNumber(day)) !== 1) day -= 1
  return fromDayNumber(day)
}

/** The anonymous Gregorian computus. */
function easterSunday(year: number): IsoDate {
  const a = year % 19
  const b = Math.floor(year / 100)
  const c = year % 100
  const d = Math.floor(b / 4)
  const e = b % 4
  const g = Math.floor((8 * b + 13) / 25)
  const h = (19 * a + b - d - g + 15) % 30
  const i = Math.floor(c / 4)
  const k = c % 4
  const l = (32 + 2 * e + 2 * i - h - k) % 7
  const m = Math.floor((a + 11 * h + 19 * l) / 433)
  const month = Math.floor((h + l - 7 * m + 90) / 25)
  const day = (h + l - 7 * m + 33 * month + 19) % 32
  return `${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`
}
