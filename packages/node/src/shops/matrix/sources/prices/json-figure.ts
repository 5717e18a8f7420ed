import { refuse, shown } from '../../reading/refused.ts'

/** A number, or null where the vendor left it out. Text in place of a number is another format than expected. */
export function jsonFigure(value: unknown, what: string): number | null {
  if (value === null || value === undefined) return null
  return typeof value === 'number' && Number.isFinite(value)
    ? value
    : refuse('number', `${what} is not a number: ${shown(String(value))}`)
}
