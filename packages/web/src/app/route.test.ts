import { anyText } from '@assay/protocol/any-text.fixture'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { linkTo, parseRoute } from './route.ts'

describe('where the visitor is', () => {
  test('nothing after the hash is the start page', () => {
    for (const hash of ['', '#', '#/', '#/?x=1']) expect(parseRoute(hash).page).toBe('start')
  })
  test('a broken escape is read unchanged', () => {
    expect(parseRoute('#/token/%zz')).toMatchObject({ page: 'token', rest: ['%zz'] })
  })
  test('every link leads back to what it was made from', () => {
    const part = anyText({ minLength: 1, maxLength: 20 })
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 3 }),
        fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), part, { maxKeys: 3 }),
        (rest, query) => {
          const route = parseRoute(linkTo('token', rest, query))
          expect(route.rest).toEqual(rest)
          expect(Object.fromEntries(route.query)).toEqual(query)
        },
      ),
    )
  })
})
