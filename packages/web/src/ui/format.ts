/** Micro-USDC as dollars: two places at least, six at most, thousands set apart. */
export function usdOfMicro(micro: string | bigint): string {
  const value = BigInt(micro)
  const sign = value < 0n ? '−' : ''
  const digits = (value < 0n ? -value : value).toString().padStart(7, '0')
  return `${sign}$${grouped(digits.slice(0, -6))}.${trimmed(digits.slice(-6))}`
}

/** Rounded to cents, for figures that only have to be compared by eye. */
export function centsOfMicro(micro: string | bigint): string {
  const value = BigInt(micro)
  const half = value < 0n ? -5_000n : 5_000n
  return usdOfMicro(((value + half) / 10_000n) * 10_000n)
}

/** A decimal price as the node writes it. */
export function usd(amount: string): string {
  const [whole = '0', part = ''] = amount.split('.')
  return `$${grouped(whole)}${part === '' ? (whole === '0' ? '.00' : '') : `.${trimmed(part)}`}`
}

const trimmed = (part: string) => part.replace(/0+$/, '').padEnd(2, '0')
const grouped = (whole: string) => whole.replace(/\B(?=(\d{3})+$)/g, ',')

export const shortHex = (hex: string): string => (hex.length > 14 ? `${hex.slice(0, 6)}…${hex.slice(-4)}` : hex)

const steps: readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
]
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

/** "3 days ago", "in 2 hours". */
export function ageText(at: string, nowMs: number): string {
  const seconds = Math.round((Date.parse(at) - nowMs) / 1000)
  if (Number.isNaN(seconds)) return at
  const [unit, size] = steps.find(([, length]) => Math.abs(seconds) >= length) ?? ['second', 1]
  return relative.format(Math.trunc(seconds / size), unit)
}

export const timeText = (at: string): string => at.replace('T', ' ').replace(/(:\d\d)(?:\.\d+)?Z$/, '$1 UTC')

/** One sign for what is below zero, in amounts and figures alike; what rounds to zero has none. */
export const withMinus = (figures: string): string => figures.replace(/^-(?=[0.,]*$)/, '').replace(/^-/, '−')

export function count(value: number): string {
  return withMinus(value.toLocaleString('en-US'))
}

export function figure(value: unknown): string {
  if (typeof value === 'number')
    return Math.abs(value) >= 1000 ? count(Math.round(value)) : withMinus(String(Math.round(value * 100) / 100))
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return value === null || value === undefined ? '–' : String(value)
}

/** `short_interest_to_shares` for people. */
export const words = (name: string): string => name.replaceAll(/[_.]/g, ' ').trim()
export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
export const sentence = (name: string): string => capital(words(name))
