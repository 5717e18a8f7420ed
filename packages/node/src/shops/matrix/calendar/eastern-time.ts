import { fromDayNumber, type IsoDate, toDayNumber, weekday } from './dates.ts'

/** US Eastern time by the rule in force since 2007: summer time from the second Sunday of March to the first of November. */
export function easternToUtcMs(date: IsoDate, hour: number, minute = 0, second = 0, millisecond = 0): number {
  const local = toDayNumber(date) * 86_400_000 + ((hour * 60 + minute) * 60 + second) * 1000 + millisecond
  return local + (isSummerTime(date, hour) ? 4 : 5) * 3_600_000
}

/** The calendar day in New York at this moment. */
export function easternDate(ms: number): IsoDate {
  const year = new Date(ms).getUTCFullYear()
  // Clocks change at 02:00 local time: 07:00 UTC in March, 06:00 UTC in November.
  const begins = toDayNumber(nthSunday(`${year}-03-01`, 2)) * 86_400_000 + 7 * 3_600_000
  const ends = toDayNumber(nthSunday(`${year}-11-01`, 1)) * 86_400_000 + 6 * 3_600_000
  const hours = ms >= begins && ms < ends ? 4 : 5
  return fromDayNumber(Math.floor((ms - hours * 3_600_000) / 86_400_000))
}

function isSummerTime(date: IsoDate, hour: number): boolean {
  const year = date.slice(0, 4)
  const begins = nthSunday(`${year}-03-01`, 2)
  const ends = nthSunday(`${year}-11-01`, 1)
  if (date === begins) return hour >= 2
  if (date === ends) return hour < 2
  return date > begins && date < ends
}

function nthSunday(first: IsoDate, n: number): IsoDate {
  return fromDayNumber(toDayNumber(first) + ((7 - weekday(first)) % 7) + (n - 1) * 7)
}
