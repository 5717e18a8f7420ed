import { anyText } from '@assay/protocol/any-text.fixture'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { csvText } from './csv-text.ts'
import { createCsvWriter } from './csv-writer.ts'

const figure = fc.oneof(
  fc.double(),
  fc.integer(),
  fc.nat(9).map((n) => n / 8),
  fc.integer({ min: -1e9, max: 1e9 }).map((n) => n / 1e4),
  fc.maxSafeInteger(),
  fc.constantFrom(0, -0, 1e15, 1e21, 0.1 + 0.2, 2 ** 31, -(2 ** 31), 99_999.9999, 123.00012, 1e-7),
)
const text = fc.oneof(fc.constantFrom('finra', '2026-11-13', 'a,b', '=1+1', 'ü"€', '', null), anyText())

test('cell by cell the bytes are those of the text, whatever repeats and wherever the pieces are cut', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(text, figure, text, figure), { maxLength: 40 }),
      fc.nat(40),
      fc.boolean(),
      (given, cut, repeated) => {
        const rows = repeated ? given.flatMap((row) => [row, row, [row[0], 7, row[2], row[3]] as typeof row]) : given
        const columns = ['a', 'b', 'c', 'd'].map((name, place) => ({
          name,
          values: rows.map((row) => row[place] as string | number | null),
        }))
        const writer = createCsvWriter(columns)
        const middle = Math.min(cut, rows.length)
        writer.add(0, middle)
        writer.add(middle, rows.length)
        const lines = rows.map((row) => `${row.map(csvText).join(',')}\n`)
        expect(Buffer.from(writer.bytes()).equals(Buffer.from(`a,b,c,d\n${lines.join('')}`))).toBe(true)
      },
    ),
    { numRuns: 300 },
  )
})
