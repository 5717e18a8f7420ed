import type { MatrixRow } from '@assay/sdk'
import { expect, test } from 'vitest'
import { nextSort, placesOf, queryOf, sortState, withPlaces } from './grid.ts'

const rows = (values: (number | string | null)[]): MatrixRow[] =>
  values.map((value, index) => ({
    rank: index + 1,
    symbol: `S${index}`,
    name: null,
    kind: 'share',
    values: {
      x: value === null ? null : { value, source: 's', as_of: '2026-01-01', available_at: '2026-01-01', licence: 'l' },
    },
  }))

test('a column is sorted from its highest, then from its lowest, then by rank again', () => {
  expect(['', '-fee', 'fee', '-score'].map((sort) => nextSort(sort, 'fee'))).toEqual(['-fee', 'fee', '', '-fee'])
  expect(['', '-fee', 'fee'].map((sort) => sortState(sort, 'fee'))).toEqual(['none', 'descending', 'ascending'])
})

test('the query has what was chosen and nothing else', () => {
  expect(queryOf({ symbols: '', filter: '', sort: '' })).toBe('')
  expect(queryOf({ symbols: 'A,B', filter: 'fee>=2', sort: '-fee' })).toBe('&symbol=A%2CB&filter=fee%3E%3D2&sort=-fee')
})

test('figures of a column have the same number of decimal places', () => {
  expect(placesOf(rows([100, 99.9, 23.456, null]), 'x')).toBe(2)
  expect(placesOf(rows([12_345.6, 0.5]), 'x')).toBe(0)
  expect(placesOf(rows([3, 4]), 'x')).toBe(0)
  expect(placesOf(rows(['2026-01-01']), 'x')).toBe(0)
  expect([100, 23.8].map((value) => withPlaces(value, 2))).toEqual(['100.00', '23.80'])
  expect(withPlaces(12_345.6, 0)).toBe('12,346')
})
