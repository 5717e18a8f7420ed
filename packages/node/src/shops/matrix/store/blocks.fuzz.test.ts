import { anyText } from '@assay/protocol/any-text.fixture'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { writeRows } from '../sources/row-set.ts'
import { cutBlocks, orderBySymbol } from './blocks.ts'
import {
  dateArray,
  dayValues,
  float8Array,
  float8Values,
  int4Array,
  int4Values,
  textArray,
  textValues,
} from './pg-arrays.ts'

const symbols = fc.array(fc.constantFrom('A', 'B', 'BRK.B', 'C', 'ZZ', 'ZZA'), { maxLength: 400 })

test('blocks cover every row once, in order, and never part the rows of a symbol', () => {
  fc.assert(
    fc.property(symbols, (given) => {
      const rows = writeRows(given.length, { numbers: ['n'], texts: ['t'] })
      for (const [index, symbol] of given.entries()) {
        rows.add(symbol, index)
        rows.set('n', index, index)
        rows.setText('t', index, String(index))
      }
      const ids = Int32Array.from(given, (_, index) => index)
      const sorted = orderBySymbol(rows.done(), ids)
      // The places of the file are carried along, and within a symbol they rise.
      const places = [...sorted.symbolIds]
      expect(sorted.rows.symbols).toEqual(places.map((place) => given[place]))
      expect([...(sorted.rows.numbers.n as Float64Array)]).toEqual(places)
      expect(sorted.rows.texts.t).toEqual(places.map(String))
      expect([...sorted.rows.days]).toEqual(places)
      places.forEach((place, i) => {
        if (i > 0 && sorted.rows.symbols[i] === sorted.rows.symbols[i - 1])
          expect(place).toBeGreaterThan(places[i - 1] as number)
      })
      let at = 0
      let before = ''
      for (const cut of cutBlocks(sorted.rows.symbols)) {
        expect(cut.from).toBe(at)
        cut.starts.forEach((start, block) => {
          expect(cut.from + start - 1).toBe(at)
          at = cut.from + (cut.ends[block] as number)
          const part = sorted.rows.symbols.slice(cut.from + start - 1, at)
          expect([part[0], part[part.length - 1]]).toEqual([cut.firsts[block], cut.lasts[block]])
          expect((part[0] as string) > before).toBe(true)
          before = part[part.length - 1] as string
        })
        expect(cut.to).toBe(at)
      }
      expect(at).toBe(given.length)
    }),
    { numRuns: 100 },
  )
})

test('numbers, dates and texts come back from the binary form as they were, unknown ones too', () => {
  const number = fc.oneof(fc.double({ noNaN: true }), fc.constant(Number.NaN))
  const text = fc.option(anyText().filter((value) => !value.includes('\0')))
  fc.assert(
    fc.property(fc.array(number), fc.array(fc.integer({ min: -2e9, max: 2e9 })), fc.array(text), (a, b, c) => {
      // Several arrays one behind the other, as the blocks of a file are read.
      const twice = (bytes: Buffer) => Buffer.concat([bytes, bytes])
      expect([...float8Values(twice(float8Array(a)), new Float64Array(a.length * 2))]).toEqual([...a, ...a])
      expect([...int4Values(twice(int4Array(b)), new Int32Array(b.length * 2))]).toEqual([...b, ...b])
      const days = b.map((value) => (value % 40_000) + 0)
      expect([...dayValues(twice(dateArray(days)), new Int32Array(days.length * 2))]).toEqual([...days, ...days])
      expect(textValues(twice(textArray(c)), c.length * 2)).toEqual([...c, ...c])
    }),
  )
})
