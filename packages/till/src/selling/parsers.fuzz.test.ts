import { anyText } from '@assay/protocol/any-text.fixture'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodePathParam, negotiate, readQuery, safeHeaderValue, splitTarget } from './index.ts'

const wallet = '0x1111111111111111111111111111111111111111'
const otherWallet = '0x2222222222222222222222222222222222222222'

test('path parameters: any text gives a value without separators or control characters, or nothing', () => {
  fc.assert(
    fc.property(anyText({ maxLength: 40 }), (raw) => {
      const value = decodePathParam(raw)
      // biome-ignore lint/suspicious/noControlCharactersInRegex: the point of the test
      return value === undefined || (value !== '..' && !/[/\\;\u0000-\u001f]/.test(value))
    }),
  )
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'aZ09 äß€:@-'), minLength: 1, maxLength: 20 }), (value) => {
      const raw = encodeURIComponent(value)
      expect(decodePathParam(raw)).toBe(value)
    }),
  )
})

test('queries: any text is read without a throw, what is set aside never stays in the resource', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 100 }), (text) => {
      const read = readQuery(`?${text}`, new Set(['ref']))
      expect(Object.keys(read.fields)).not.toContain('ref')
      expect(Object.getPrototypeOf(read.fields)).toBe(Object.prototype)
    }),
  )
  const read = readQuery(`?b=2&ref=${wallet}&a=%31+x&%61ff=${otherWallet}`, new Set(['ref', 'aff']))
  expect(read).toMatchObject({ fields: { b: '2', a: '1 x' }, resourceQuery: '?b=2&a=%31+x', problems: [] })
  expect(read.aside).toEqual([
    ['ref', wallet],
    ['aff', otherWallet],
  ])
  expect(readQuery('?ref=1').fields).toEqual({ ref: '1' })
  expect(readQuery('?a=1&a=2').problems).toEqual([{ field: 'query.a', problem: 'is given twice' }])
  expect(readQuery('?__proto__=1').problems).toHaveLength(1)
  expect(readQuery('?a=%ff').problems).toHaveLength(1)
  for (const query of ['?a=%00', '?a%00=1', '?ref=%00', '?a=x%00y'])
    expect(readQuery(query).problems, query).toEqual([
      { field: 'query', problem: 'contains NUL or half of a surrogate pair' },
    ])
})

test('negotiation: any Accept gives one of the offered types or nothing', () => {
  const offered = ['application/json', 'text/csv']
  fc.assert(
    fc.property(fc.string({ maxLength: 60 }), (accept) => {
      const chosen = negotiate(accept, offered)
      return chosen === undefined || offered.includes(chosen)
    }),
  )
  const rows: [string | undefined, string | undefined][] = [
    [undefined, 'application/json'],
    ['*/*', 'application/json'],
    ['text/csv', 'text/csv'],
    ['text/*;q=0.9, application/json;q=0.1', 'text/csv'],
    ['text/html, */*;q=0.1', 'application/json'],
    ['application/json;q=0, */*', 'text/csv'],
    ['image/png', undefined],
    ['garbage', 'application/json'],
  ]
  for (const [accept, chosen] of rows) expect(negotiate(accept, offered), accept).toBe(chosen)
})

test('targets: only a plain path with a query is taken', () => {
  expect(splitTarget('/a?b=1?c')).toEqual({ path: '/a', query: '?b=1?c' })
  expect(splitTarget('/a')).toEqual({ path: '/a', query: '?' })
  for (const target of ['http://other/a', 'a', '', '*', '/a#b', '/ä', '/a b', '/a\n'])
    expect(splitTarget(target), target).toBeUndefined()
})

test('E3: text reflected into a header can neither end the line nor leave ASCII', () => {
  expect(safeHeaderValue('a\r\nSet-Cookie: x=1')).toBe('a%0D%0ASet-Cookie: x=1')
  fc.assert(fc.property(anyText({ maxLength: 60 }), (text) => /^[\t\x20-\x7e]*$/.test(safeHeaderValue(text))))
})
