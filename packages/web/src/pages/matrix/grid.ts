import type { MatrixRow } from '@assay/sdk'
import { withMinus } from '../../ui/format.ts'

/** The part of a feed that is shown. `cursors` are those of the pages before this one, the newest last. */
export type View = { symbols: string; filter: string; sort: string; cursors: readonly string[] }

export const firstView: View = { symbols: '', filter: '', sort: '', cursors: [] }

/** The query of a view, without its page: another order or condition begins at the first. */
export function queryOf({ symbols, filter, sort }: Omit<View, 'cursors'>): string {
  const query = new URLSearchParams()
  if (symbols !== '') query.set('symbol', symbols)
  if (filter !== '') query.set('filter', filter)
  if (sort !== '') query.set('sort', sort)
  return query.size === 0 ? '' : `&${query}`
}

/** Highest first, then lowest first, then by rank again. */
export function nextSort(sort: string, column: string): string {
  if (sort === `-${column}`) return column
  return sort === column ? '' : `-${column}`
}

export const sortState = (sort: string, column: string): 'ascending' | 'descending' | 'none' => {
  if (sort === column) return 'ascending'
  return sort === `-${column}` ? 'descending' : 'none'
}

const placesMax = 2

/** Decimal places that every figure of a column gets, so that their points are aligned. */
export function placesOf(rows: readonly MatrixRow[], column: string): number {
  const numbers = rows.flatMap((row) => {
    const value = row.values[column]?.value
    return typeof value === 'number' ? [value] : []
  })
  if (numbers.some((value) => Math.abs(value) >= 1_000)) return 0
  const placesOfOne = (value: number) => (String(Math.round(value * 100) / 100).split('.')[1] ?? '').length
  return Math.min(placesMax, Math.max(0, ...numbers.map(placesOfOne)))
}

export const withPlaces = (value: number, places: number): string =>
  withMinus(value.toLocaleString('en-US', { minimumFractionDigits: places, maximumFractionDigits: places }))
