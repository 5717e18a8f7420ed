import { expect, test } from 'vitest'
import { operationsOf, resolve, tagsOf, typeText } from './operations.ts'

const document = {
  paths: {
    '/a': {
      get: {
        operationId: 'a.get',
        tags: ['One'],
        summary: 'A',
        'x-payment-info': { price: { mode: 'fixed', amount: '0.02' } },
      },
      parameters: {},
    },
    '/b': {
      post: {
        operationId: 'b.post',
        tags: ['One'],
        'x-payment-info': { price: { mode: 'dynamic', min: '1', max: '9' } },
      },
    },
  },
  components: { schemas: { Thing: { type: 'object' } } },
}

test('every operation is found with its price, and what is no method is left out', () => {
  expect(operationsOf(document).map(({ id, price }) => [id, price])).toEqual([
    ['a.get', '$0.02'],
    ['b.post', 'from $1'],
  ])
  expect(tagsOf(operationsOf(document))).toHaveLength(1)
})

test('references are followed one step, unknown ones stay as they are', () => {
  expect(resolve({ $ref: '#/components/schemas/Thing' }, document)).toEqual({ type: 'object' })
  expect(resolve({ $ref: '#/elsewhere' }, document)).toEqual({ $ref: '#/elsewhere' })
})

test('types are told in a word or two', () => {
  expect(typeText({ type: 'array', items: { type: 'string' } })).toBe('list of string')
  expect(typeText({ anyOf: [{ type: 'string' }, { type: 'null' }] })).toBe('string | null')
  expect(typeText({ enum: ['a', 'b'] })).toBe('"a" | "b"')
  expect(typeText({})).toBe('anything')
})
