import { expect, test } from 'vitest'
import { describeEntry } from './describe-entry.ts'

const types = [
  { type: 'a/v1', kind: 'a' },
  { type: 'b/v1', kind: 'b', subjectOf: ({ name, seq }: Readonly<Record<string, unknown>>) => `b:${name}:${seq}` },
]

test.each([
  ['its id', '{"type":"a/v1","id":"a_1"}', { kind: 'a', subject: 'a_1' }],
  ['what its type says', '{"type":"b/v1","name":"x","seq":2}', { kind: 'b', subject: 'b:x:2' }],
  ['its place: no id', '{"type":"a/v1","id":7}', undefined],
  ['its place: too long', `{"type":"a/v1","id":"${'a'.repeat(301)}"}`, undefined],
  ['its place: a type nobody declared', '{"type":"c/v1","id":"c_1"}', undefined],
  ['its place: no object', 'null', undefined],
  ['its place: no JSON', 'bytes', undefined],
])('an entry that came back is filed under %s', (_, entry, filed) => {
  expect(describeEntry(types, Buffer.from(entry), 5)).toEqual(filed ?? { kind: 'restored', subject: 'restored:5' })
})
