import { expect, test } from 'vitest'
import { z } from 'zod'
import { issueWords } from './issue-words.ts'

const wordsOf = (schema: z.ZodType, value: unknown) =>
  schema.safeParse(value).error?.issues.map((issue) => issueWords(issue, value))

test.each([
  [z.object({ query: z.string() }), {}, 'is required'],
  [z.object({ query: z.string() }), undefined, 'is required'],
  [z.object({ query: z.enum(['a', 'b']) }), {}, 'is required'],
  [z.object({ query: z.string() }), { query: null }, 'must be a string'],
  [z.object({ query: z.string() }), [1], 'must be an object'],
  [z.object({ list: z.array(z.string()) }), { list: 'x' }, 'must be a list'],
  [z.object({ list: z.array(z.string()) }), { list: ['x', 2] }, 'must be a string'],
  [z.boolean(), 'yes', 'must be true or false'],
  [z.int(), 1.5, 'must be a whole number'],
  [z.number().max(50), 51, 'must be at most 50'],
  [z.number().gt(0), 0, 'must be more than 0'],
  [z.number().multipleOf(5), 7, 'must be a multiple of 5'],
  [z.string().min(2), 'a', 'must have at least 2 characters'],
  [z.array(z.string()).max(1), ['a', 'b'], 'must have at most 1 entries'],
  [z.enum(['up', 'down']), 'left', 'must be one of up, down'],
  [z.literal(1), 2, 'must be 1'],
  [z.url(), 'x', 'must be a valid url'],
  [z.string().regex(/^a$/), 'b', 'is not valid'],
  [z.union([z.string(), z.number()]), true, 'is not valid'],
  [z.string().refine(() => false), 'b', 'is not valid'],
])('a problem is named in words that need no knowledge of the schema library: %#', (schema, value, words) => {
  expect(wordsOf(schema, value)).toEqual([words])
})

test('what was written for a field is kept', () => {
  expect(wordsOf(z.string().regex(/^0x/, 'must be 0x and 40 hex digits'), 'b')).toEqual([
    'must be 0x and 40 hex digits',
  ])
})
