import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createEventParser, type ServerEvent } from './parse-events.ts'

const word = fc.string({ maxLength: 20 }).map((text) => text.replace(/[\r\n\0]/g, ''))
const event = fc.record({
  id: fc.option(word, { nil: undefined }),
  event: word,
  data: fc.array(word, { minLength: 1 }),
})

const write = (events: readonly { id: string | undefined; event: string; data: string[] }[], end: string) =>
  events
    .map(({ id, event: name, data }) =>
      [
        ': a comment',
        ...(id === undefined ? [] : [`id: ${id}`]),
        `event: ${name}`,
        ...data.map((line) => `data: ${line}`),
        '',
        '',
      ].join(end),
    )
    .join('')

test('events arrive whole however the text is cut and whatever ends a line', () => {
  fc.assert(
    fc.property(
      fc.array(event, { maxLength: 6 }),
      fc.constantFrom('\n', '\r\n', '\r'),
      fc.array(fc.nat({ max: 40 }), { maxLength: 30 }),
      (events, end, cuts) => {
        const text = write(events, end)
        const parser = createEventParser()
        const found: ServerEvent[] = []
        let at = 0
        for (const cut of cuts) {
          found.push(...parser.push(text.slice(at, at + cut)))
          at += cut
        }
        found.push(...parser.push(text.slice(at)))
        expect(found).toEqual(events.map(({ id, event: name, data }) => ({ id, event: name, data: data.join('\n') })))
      },
    ),
  )
})

test('any text at all is read without failing, and the requested wait is remembered', () => {
  fc.assert(
    fc.property(fc.array(fc.string()), (pieces) => {
      const parser = createEventParser()
      for (const piece of pieces) parser.push(piece)
    }),
  )
  const parser = createEventParser()
  expect(parser.push('retry: 1234\n\nretry: soon\n\n')).toEqual([])
  expect(parser.retryMs()).toBe(1_234)
})

test('an event without an end is refused before it fills the memory', () => {
  const parser = createEventParser()
  const piece = 'x'.repeat(1_048_576)
  expect(() => {
    for (let i = 0; i < 6; i += 1) parser.push(piece)
  }).toThrow(RangeError)
})
