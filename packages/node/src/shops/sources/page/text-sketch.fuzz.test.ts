import { anyText } from '@assay/protocol/any-text.fixture'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { textSketch } from './text-sketch.ts'

const words = fc.array(fc.oneof(fc.constantFrom('a', 'É', '\ud835\udc00', '\ud835', '\udc00', '٣', 'ि'), anyText()), {
  minLength: 30,
  maxLength: 80,
})

test('a bit is set where it is in most hashes of all three neighbouring words', () => {
  fc.assert(
    fc.property(words, fc.constantFrom('', ' ', ', '), (given, between) => {
      const text = given.join(between)
      expect(textSketch(text)).toBe(plainSketch(text))
    }),
    { numRuns: 200 },
  )
})

function plainSketch(text: string): string {
  const found = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  if (found.length < 40) return ''
  const shingles = found.slice(2).map((last, at) => `${found[at]} ${found[at + 1]} ${last}`)
  return [fnv(0x01000193, 0x85ebca6b), fnv(0x811c9dc5, 0x01000193)]
    .flatMap((hash) => {
      const hashes = shingles.map(hash)
      const bits = Array.from(
        { length: 32 },
        (_, bit) => hashes.filter((one) => (one >>> bit) & 1).length * 2 > hashes.length,
      )
      return bits
        .reduceRight((sum, bit) => 2 * sum + Number(bit), 0)
        .toString(16)
        .padStart(8, '0')
    })
    .join('')
}

const fnv = (start: number, prime: number) => (shingle: string) => {
  const hash = Array.from({ length: shingle.length }).reduce<number>(
    (made, _, at) => Math.imul(made ^ shingle.charCodeAt(at), prime),
    start,
  )
  const once = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  const twice = Math.imul(once ^ (once >>> 13), 0xc2b2ae35)
  return twice ^ (twice >>> 16)
}
