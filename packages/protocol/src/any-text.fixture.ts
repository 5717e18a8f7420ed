import fc from 'fast-check'

const surrogates = { first: 0xd800, count: 0x800 }

/** Every code point. The unit of fast-check for them keeps a table of a million characters in every process that uses it. */
const anyCharacter = fc.integer({ min: 0, max: 0x10ffff - surrogates.count }).map(
  (place) => String.fromCodePoint(place < surrogates.first ? place : place + surrogates.count),
  (text) => {
    const [character = ''] = String(text)
    const point = character.codePointAt(0)
    const isSurrogate = point !== undefined && point >= surrogates.first && point < surrogates.first + surrogates.count
    if (point === undefined || isSurrogate || character !== text) throw new Error('not one character')
    return point < surrogates.first ? point : point - surrogates.count
  },
)

/** Text of any characters, with the words that break programs more often than chance would have them. */
export const anyText = (options: Omit<fc.StringConstraints, 'unit'> = {}) =>
  fc.string({ ...options, unit: anyCharacter })
