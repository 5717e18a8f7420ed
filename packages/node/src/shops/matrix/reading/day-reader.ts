import { fromBasic, isIsoDate, toDayNumber } from '../calendar/dates.ts'

/** Reads dates as day numbers. A file of 50,000 rows has some ten dates: each is worked out once. */
export function dayReader(form: 'iso' | 'basic'): (text: string) => number | undefined {
  const known = new Map<string, number>()
  return (text) => {
    const found = known.get(text)
    if (found !== undefined) return found
    const date = form === 'basic' ? fromBasic(text) : isIsoDate(text) ? text : undefined
    if (date === undefined) return undefined
    const day = toDayNumber(date)
    known.set(text, day)
    return day
  }
}
