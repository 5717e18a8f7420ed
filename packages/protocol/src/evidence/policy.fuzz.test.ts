import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseVerifyPolicy } from './policy.ts'

const seconds = { s: 1, m: 60, h: 3_600, d: 86_400 }
const witnesses = fc
  .tuple(fc.integer({ min: 1, max: 99 }), fc.integer({ min: 0, max: 98 }))
  .filter(([atLeast, more]) => atLeast + more <= 99)
  .map(([atLeast, more]) => ({
    text: `witnesses=${atLeast}of${atLeast + more}`,
    means: { logged: true, witnesses: { atLeast, of: atLeast + more } },
  }))
const age = fc
  .tuple(fc.integer({ min: 1, max: 999_999 }), fc.constantFrom('s', 'm', 'h', 'd'))
  .map(([count, unit]) => ({ text: `max-age=${count}${unit}`, means: { maxAgeSeconds: count * seconds[unit] } }))
const plain = [
  { text: 'logged', means: { logged: true } },
  { text: 'anchor', means: { anchor: true, logged: true } },
  { text: 'key-valid', means: { keyValid: true } },
].map((term) => fc.constant(term))
const nameOf = (text: string) => text.split('=')[0]
const terms = fc.uniqueArray(fc.oneof(witnesses, age, ...plain), {
  minLength: 1,
  selector: ({ text }) => nameOf(text),
})
const textOf = (list: readonly { text: string }[]) => list.map(({ text }) => text).join(',')

test('a policy means its terms, in any order, and nothing else', () => {
  fc.assert(
    fc.property(terms, (list) => {
      const means = list.map((term): object => term.means)
      const expected = Object.assign({ logged: false, anchor: false, keyValid: false }, ...means)
      expect(parseVerifyPolicy(textOf(list))).toEqual(expected)
    }),
  )
})

test('a policy with a term twice, an unknown term or a character too many is refused', () => {
  fc.assert(
    fc.property(terms, fc.nat(), fc.constantFrom(' ', ',', '=', '0', 'x', '\n'), (list, at, char) => {
      const text = textOf(list)
      expect(parseVerifyPolicy(`${text},${list[0]?.text}`)).toBeUndefined()
      expect(parseVerifyPolicy(`${text},${char}`)).toBeUndefined()
      const place = at % (text.length + 1)
      const longer = text.slice(0, place) + char + text.slice(place)
      // A digit inside a number gives another policy; everything else is none.
      if (char !== '0') expect(parseVerifyPolicy(longer)).toBeUndefined()
    }),
  )
  for (const text of ['', 'witnesses=0of1', 'witnesses=3of2', 'witnesses=01of2', 'witnesses=2', 'max-age=0d', 'LOGGED'])
    expect(parseVerifyPolicy(text)).toBeUndefined()
})

test('arbitrary text is a policy or none, and never an error', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 120 }), (text) => {
      const policy = parseVerifyPolicy(text)
      expect(policy === undefined || typeof policy.logged === 'boolean').toBe(true)
    }),
  )
})
