import { expect, test } from 'vitest'
import { typeOf } from '../scripts/generate-operations.mjs'

test('schemas of routes become the types that a caller would write', () => {
  const cases: [unknown, string][] = [
    [{ type: 'string' }, 'string'],
    [{ type: ['integer', 'null'] }, 'number | null'],
    [{ enum: ['a', "b'c", 3] }, "'a' | 'b\\'c' | 3"],
    [{ type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'null' }] } }, '(string | null)[]'],
    [
      { type: 'object', properties: { a: { type: 'number' }, 'b-c': { const: true } }, required: ['a'] },
      "{ a: number; 'b-c'?: true }",
    ],
    [{ type: 'object', additionalProperties: { type: 'string' } }, 'Record<string, string>'],
    [{ type: 'object', additionalProperties: false }, 'Record<string, never>'],
    [{ $ref: '#/$defs/x', $defs: { x: { type: 'array', items: { $ref: '#/$defs/x' } } } }, 'unknown[]'],
    [{}, 'unknown'],
    [undefined, 'unknown'],
  ]
  for (const [schema, type] of cases) expect(typeOf(schema)).toBe(type)
})
