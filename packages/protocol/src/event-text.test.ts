import { expect, test } from 'vitest'
import { joinEvent, splitEvent } from './event-text.ts'

test('data comes out as it was put in, to the byte', () => {
  const attributes = { id: '0-7', source: 'https://node.test/stream', specversion: '1.0' }
  for (const data of ['{ "b":1, "a":2.50 }', '[1,2]', '"}"', 'null', '{"x":",\\"data\\":"}'])
    expect(splitEvent(joinEvent(attributes, data))).toEqual({ attributes, data })
})

test('what is no event with data at its end is refused', () => {
  for (const text of ['', '{}', '{"id":"1"}', ',"data":1}', '[1,"data":2}', '{"id":1,"data":2', '{"id:,"data":2}'])
    expect(splitEvent(text), text).toBeUndefined()
})
