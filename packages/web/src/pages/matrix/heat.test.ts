import type { MatrixRow } from '@assay/sdk'
import { expect, test } from 'vitest'
import { ageTone, columnsOf, heatOf, oldestAsOf } from './heat.ts'

const cell = (value: number | string, asOf = '2026-01-01') => ({
  value,
  source: 's',
  as_of: asOf,
  available_at: asOf,
  licence: 'l',
})
const row = (symbol: string, values: MatrixRow['values']): MatrixRow => ({
  rank: 1,
  symbol,
  name: null,
  kind: 'share',
  values,
})

test('the highest value of a column is the hottest, and text has no heat', () => {
  const rows = [row('A', { fee: cell(10), why: cell('x') }), row('B', { fee: cell(30) }), row('C', { fee: null })]
  expect([...heatOf(rows, 'fee')]).toEqual([
    ['A', 0],
    ['B', 1],
  ])
  expect(heatOf(rows, 'why').size).toBe(0)
})

test('equal values are neither hot nor cold', () => {
  expect([...heatOf([row('A', { fee: cell(5) }), row('B', { fee: cell(5) })], 'fee').values()]).toEqual([0.5, 0.5])
})

test('a column is as old as its oldest part', () => {
  const rows = [row('A', { fee: cell(1, '2026-02-01') }), row('B', { fee: cell(2, '2026-01-05') })]
  expect(oldestAsOf(rows, 'fee')).toBe('2026-01-05')
  expect(oldestAsOf(rows, 'none')).toBeUndefined()
})

test('columns that only some rows have are not lost', () => {
  expect(columnsOf([row('A', { a: cell(1) }), row('B', { b: cell(1) })])).toEqual(['a', 'b'])
})

test('age is shown by how unusual it is', () => {
  const now = Date.parse('2026-03-01')
  expect(ageTone('2026-02-27', now)).toBe('good')
  expect(ageTone('2026-02-01', now)).toBe('warn')
  expect(ageTone('2025-11-01', now)).toBe('bad')
})
