import fc from 'fast-check'
import { expect, test } from 'vitest'
import { anyText } from './any-text.fixture.ts'
import { jsonDepth } from './canonical-json.ts'
import { parseStrictJson } from './strict-json.ts'

const parse = (text: string) => parseStrictJson(Buffer.from(text))

test('S22: depth is capped before parsing, so a bomb costs nothing', () => {
  expect(parse('['.repeat(1_000_000))).toMatchObject({ status: 'malformed', problem: 'is nested deeper than 32' })
  expect(parse(`${'['.repeat(33)}${']'.repeat(33)}`).status).toBe('malformed')
  expect(parse(`${'['.repeat(32)}${']'.repeat(32)}`).status).toBe('ok')
})

test('A33: keys that reach into prototypes are refused at any depth and in any spelling', () => {
  for (const text of [
    '{"__proto__":{"paid":true}}',
    '{"a":{"constructor":{"prototype":{}}}}',
    '[{"\\u005f_proto__":1}]',
    '{"a":[{"prototype":1}]}',
  ])
    expect(parse(text), text).toMatchObject({ status: 'malformed' })
  expect(({} as Record<string, unknown>).paid).toBeUndefined()
  expect(parse('{"a":"__proto__"}').status).toBe('ok')
})

test('a key given twice is refused, however it is spelled', () => {
  for (const text of ['{"a":1,"a":2}', '{"a":1,"\\u0061":2}', '[{"b":{"c":1,"d":2,"c":3}}]'])
    expect(parse(text), text).toMatchObject({ status: 'malformed' })
  for (const text of ['{"a":{"a":1},"b":["a","a",{"a":1}]}', '{"a":"{\\"a\\":1,\\"a\\":2}"}'])
    expect(parse(text).status, text).toBe('ok')
})

test('text that is not UTF-8, has a byte order mark, or is no JSON is refused', () => {
  expect(parseStrictJson(Buffer.from([0x22, 0xff, 0x22])).status).toBe('malformed')
  expect(parseStrictJson(Buffer.from([0xef, 0xbb, 0xbf, 0x31])).status).toBe('malformed')
  for (const text of ['', '{', 'NaN', "{'a':1}", '{"a":1}x', '01']) expect(parse(text).status, text).toBe('malformed')
})

test('NUL and half of a surrogate pair are refused in any text and key, at any depth', () => {
  for (const text of [
    String.raw`"\u0000"`,
    String.raw`{"a":["x\u0000y"]}`,
    String.raw`{"a\u0000":1}`,
    String.raw`"\ud800"`,
    String.raw`{"a":{"\udc00":1}}`,
    String.raw`"\udc00\ud800"`,
  ])
    expect(parse(text), text).toEqual({
      status: 'malformed',
      problem: 'contains NUL or half of a surrogate pair',
    })
  for (const text of [String.raw`"\ud83d\ude00"`, String.raw`"\\u0000"`, '"\u{1f600}"', String.raw`"\u0001\uffff"`])
    expect(parse(text).status, text).toBe('ok')
})

test('whatever is accepted can be encoded as UTF-8 and back', () => {
  fc.assert(
    fc.property(anyText({ maxLength: 20 }), anyText(), (key, value) => {
      const parsed = parse(JSON.stringify({ [key]: [value] }))
      if (parsed.status !== 'ok') return
      const text = Object.entries(parsed.value as Record<string, string[]>)
        .flat(2)
        .join('')
      expect(Buffer.from(text).toString()).toBe(text)
      expect(text).not.toContain('\0')
    }),
  )
})

test('any bytes give a result, and any JSON value without odd keys survives', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) =>
      ['ok', 'malformed'].includes(parseStrictJson(bytes).status),
    ),
  )
  fc.assert(
    fc.property(fc.json({ maxDepth: 8 }), (text) => {
      const parsed = parse(text)
      if (parsed.status === 'ok') expect(parsed.value).toEqual(JSON.parse(text))
      else expect(parsed.problem).toMatch(/key|NUL/)
    }),
  )
})

/** Character by character: what skipping from quote to quote must agree with. */
function depthByCharacter(text: string): number {
  let [depth, deepest, inString] = [0, 0, false]
  for (let i = 0; i < text.length; i += 1) {
    const unit = text[i] as string
    if (inString && unit === '\\') i += 1
    else if (unit === '"') inString = !inString
    else if (!inString && '[{'.includes(unit)) {
      depth += 1
      deepest = Math.max(deepest, depth)
    } else if (!inString && ']}'.includes(unit)) depth -= 1
  }
  return deepest
}

test('the depth of any text is that of its characters, however quotes and backslashes follow each other', () => {
  const text = fc.string({ unit: fc.constantFrom(...'"\\[]{}a'), maxLength: 24 })
  fc.assert(
    fc.property(text, (given) => {
      expect(jsonDepth(given)).toBe(depthByCharacter(given))
    }),
    { numRuns: 2_000 },
  )
})

test('a key given twice is found among keys and values with quotes and backslashes', () => {
  const word = fc.string({ unit: fc.constantFrom(...'"\\:,{}a'), maxLength: 6 })
  fc.assert(
    fc.property(fc.uniqueArray(word, { minLength: 1, maxLength: 4 }), word, (keys, value) => {
      const members = keys.map((key) => `${JSON.stringify(key)}:[${JSON.stringify(value)}]`)
      expect(parse(`{${members.join(',')}}`).status).toBe('ok')
      expect(parse(`{${[...members, members[0]].join(',')}}`).status).toBe('malformed')
    }),
  )
})
