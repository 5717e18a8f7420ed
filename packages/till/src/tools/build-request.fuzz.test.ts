import fc from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { Problem } from '../kernel/problem.ts'
import { jsonAnswer, type RouteDeclaration } from '../selling/index.ts'
import { buildRequest } from './build-request.ts'
import { describeTools } from './describe-tools.ts'

const route: RouteDeclaration = {
  id: 'things.change.many',
  method: 'POST',
  path: '/things/:id/parts/:part',
  summary: 'Changes things',
  params: z.strictObject({ id: z.string(), part: z.string() }),
  query: z.strictObject({ id: z.string().optional(), limit: z.string().optional() }),
  body: z.strictObject({ limit: z.number().optional(), note: z.string() }),
  output: z.strictObject({}),
  example: { output: {} },
  access: { kind: 'free', handle: async () => jsonAnswer({}) },
}
const [tool] = describeTools([route])
if (!tool) throw new Error('no tool')

test('names that path, query and body share are distinguished', () => {
  expect(tool.name).toBe('things_change_many')
  expect(Object.keys(tool.inputSchema.properties as object)).toEqual([
    'id',
    'part',
    'query_id',
    'limit',
    'body_limit',
    'note',
  ])
  expect(tool.inputSchema.required).toEqual(['id', 'part', 'note'])
  const request = buildRequest(tool, { id: 'a', part: 'b', query_id: 'c', limit: '1', body_limit: 2, note: 'n' })
  expect(request.target).toBe('/things/a/parts/b?id=c&limit=1')
  expect(JSON.parse(String(request.body))).toEqual({ limit: 2, note: 'n' })
})

test('whatever the arguments are, they stay in their place: no path is left, no parameter added', () => {
  fc.assert(
    fc.property(
      fc.string({ minLength: 1 }),
      fc.string({ minLength: 1 }),
      fc.string(),
      fc.jsonValue(),
      (id, part, more, note) => {
        // Half of a surrogate pair cannot be written into an address at all.
        const dots = (segment: string) => segment === '.' || segment === '..'
        fc.pre(!dots(id) && !dots(part) && ![id, part, more].some((text) => /\p{Surrogate}/u.test(text)))
        const request = buildRequest(tool, { id, part, query_id: more, note })
        const url = new URL(`http://node.example${request.target}`)
        const segments = url.pathname.split('/')
        expect([segments[1], segments[3], segments.length]).toEqual(['things', 'parts', 5])
        expect(decodeURIComponent(segments[2] as string)).toBe(id)
        expect(decodeURIComponent(segments[4] as string)).toBe(part)
        expect([...url.searchParams]).toEqual([['id', more]])
        expect(JSON.parse(String(request.body))).toEqual({ note: JSON.parse(JSON.stringify(note)) })
      },
    ),
  )
})

test('unknown or missing arguments are named', () => {
  expect(() => buildRequest(tool, { id: 'a', part: 'b', note: 'n', other: 1 })).toThrow(/other is not a known argument/)
  for (const part of [undefined, '', 5, {}, '.', '..', '\ud800'])
    expect(() => buildRequest(tool, { id: 'a', part, note: 'n' })).toThrow(Problem)
})
