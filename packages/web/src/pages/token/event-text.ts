import { timeText } from '../../ui/format.ts'

/** Addresses are parts by themselves, to be shortened, copied and followed. */
export type Part = { text: string } | { address: string }

const inUnits = new Set(['supply_cap_updated', 'seized', 'burned_blocked'])
const inWads = new Set(['multiplier_updated', 'ui_multiplier_updated', 'ui_multiplier_cancelled'])
const noSupplyCap = String(2n ** 128n - 1n)

/** A line of the history as people read it: base units as the token's own amounts, 18 decimals of a multiplier as one. */
export function partsOf(text: string, kind: string | undefined, decimals: unknown): Part[] {
  return text.split(/(0x[0-9a-fA-F]{40})\b/).map((part, at): Part => {
    if (at % 2 === 1) return { address: part }
    return { text: kind === undefined ? part : readable(part, kind, decimals) }
  })
}

function readable(text: string, kind: string, decimals: unknown): string {
  if (inUnits.has(kind))
    return text.replace(/\b\d+\b/g, (units) => (units === noSupplyCap ? 'none' : amount(units, decimals)))
  if (!inWads.has(kind)) return text
  // Of ten digits: what a clock cannot show stays as it is.
  const [said = '', at] = text.split(/ at (?=\d{10}$)/)
  const when = at === undefined ? '' : ` at ${timeText(new Date(Number(at) * 1000).toISOString())}`
  return `${said.replace(/\b\d+\b/g, (wads) => amount(wads, 18))}${when}`
}

/** A fact that could not be read says so instead of looking empty. */
export function shown(value: unknown): string {
  if (typeof value === 'object' && value !== null && 'unknown' in value) return `unknown (${String(value.unknown)})`
  return String(value ?? '–')
}

export function amount(units: unknown, decimals: unknown): string {
  if (typeof units !== 'string' || !/^\d+$/.test(units)) return shown(units)
  const places = typeof decimals === 'number' ? decimals : 0
  const digits = units.padStart(places + 1, '0')
  const whole = digits.slice(0, digits.length - places).replace(/\B(?=(\d{3})+$)/g, ',')
  const part = places === 0 ? '' : digits.slice(-places).replace(/0+$/, '')
  return part === '' ? whole : `${whole}.${part}`
}
