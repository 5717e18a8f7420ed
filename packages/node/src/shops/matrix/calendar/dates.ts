/** Calendar dates are ISO text (`2026-11-13`); a date has no zone and no time. */
export type IsoDate = string

const msPerDay = 86_400_000
const iso = /^(\d{4})-(\d{2})-(\d{2})$/

export function isIsoDate(text: string): boolean {
  const match = iso.exec(text)
  return match !== null && fromParts(Number(match[1]), Number(match[2]), Number(match[3])) === text
}

/** Undefined where there is no such day, such as 30 February. */
export function fromParts(year: number, month: number, day: number): IsoDate | undefined {
  if (!(year >= 1900 && year <= 2999 && month >= 1 && month <= 12 && day >= 1 && day <= 31)) return undefined
  const date = new Date(Date.UTC(year, month - 1, day))
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? date.toISOString().slice(0, 10) : undefined
}

/** `20261113`. */
export function fromBasic(text: string): IsoDate | undefined {
  if (!/^\d{8}$/.test(text)) return undefined
  return fromParts(Number(text.slice(0, 4)), Number(text.slice(4, 6)), Number(text.slice(6, 8)))
}

/** `11/13/2026`. */
export function fromAmerican(text: string): IsoDate | undefined {
  const match = /^(\d{2})\/(\d{2})\/(\d{4})$/.exec(text)
  return match ? fromParts(Number(match[3]), Number(match[1]), Number(match[2])) : undefined
}

/** `13-NOV-2026`. */
export function fromMonthName(text: string): IsoDate | undefined {
  const match = /^(\d{2})-([A-Za-z]{3})-(\d{4})$/.exec(text)
  const month = match ? monthNames.indexOf((match[2] as string).toUpperCase()) : -1
  return match && month >= 0 ? fromParts(Number(match[3]), month + 1, Number(match[1])) : undefined
}

export const monthNames = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC']

export const toBasic = (date: IsoDate) => date.replaceAll('-', '')

export function toDayNumber(date: IsoDate): number {
  return Math.round(Date.parse(`${date}T00:00:00Z`) / msPerDay)
}

export function fromDayNumber(day: number): IsoDate {
  return new Date(day * msPerDay).toISOString().slice(0, 10)
}

export const addDays = (date: IsoDate, days: number): IsoDate => fromDayNumber(toDayNumber(date) + days)

export function weekday(date: IsoDate): number {
  return new Date(`${date}T00:00:00Z`).getUTCDay()
}
