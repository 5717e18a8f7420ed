import { refuse, shown } from './refused.ts'

const decimal = /^-?(?:\d{1,15})(?:\.\d{1,12})?$/
const whole = /^\d{1,15}$/

/** A plain decimal number. Exponents, signs of plus, thousands separators and blanks are refused, never repaired. */
export function readDecimal(text: string, what: string): number {
  if (!decimal.test(text)) refuse('number', `${what} is not a number: ${shown(text)}`)
  return Number(text)
}

export function readQuantity(text: string, what: string): number {
  const value = readDecimal(text, what)
  if (value < 0) refuse('number', `${what} is negative: ${shown(text)}`)
  return value
}

/** Blank or one of the publisher's words for "none" is null; anything else must be a number. */
export function readOptional(text: string, what: string, blanks: readonly string[] = []): number | null {
  if (decimal.test(text)) return Number(text)
  const trimmed = text.trim()
  if (trimmed === '' || blanks.includes(trimmed)) return null
  return readDecimal(trimmed, what)
}

const noPrice = ['null', 'NaN', 'N/A', '-', '.']

/** A figure of a price file: null where the vendor has none, by any of the words that vendors use for it. */
export const readPrice = (text: string, what: string) => readOptional(text, what, noPrice)

export function readCount(text: string, what: string): number {
  const trimmed = text.trim()
  if (!whole.test(trimmed)) refuse('trailer', `${what} is not a count: ${shown(text)}`)
  return Number(trimmed)
}
