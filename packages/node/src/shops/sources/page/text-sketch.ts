const wordsInShingle = 3
/** Texts shorter than this say too little to count as a copy of another. */
const wordsMin = 40

// Two FNV-1a hashes from different starts.
const start = 0x01000193
const prime = 0x85ebca6b
const otherStart = 0x811c9dc5 | 0
const otherPrime = 0x01000193
const space = 0x20

/**
 * Sixty-four bits (simhash) of which texts that are nearly the same share nearly all: copies with another date or
 * another advertisement. Empty for a short text.
 */
export function textSketch(text: string): string {
  const hashes = shingleHashes(text.toLowerCase())
  if (hashes.length / 2 < wordsMin - wordsInShingle + 1) return ''
  return `${majority(hashes, 0)}${majority(hashes, 1)}`
}

/** Both hashes of each shingle, with spaces between its words: one after the other. */
function shingleHashes(text: string): Int32Array {
  const hashes = new Int32Array(text.length + 1)
  // Each word is in three shingles, hashed side by side; named by how many of their words are behind.
  let [two, one, none] = [start, start, start]
  let [otherTwo, otherOne, otherNone] = [otherStart, otherStart, otherStart]
  let words = 0
  let filled = 0
  let inWord = false
  for (let at = 0; at <= text.length; at += 1) {
    // The last word ends as the others do.
    const unit = at < text.length ? text.charCodeAt(at) : space
    const known = ofWords[unit] as number
    if (known > 0 || (known === 0 && isOfWord(text, at, unit))) {
      inWord = true
      two = Math.imul(two ^ unit, prime)
      one = Math.imul(one ^ unit, prime)
      none = Math.imul(none ^ unit, prime)
      otherTwo = Math.imul(otherTwo ^ unit, otherPrime)
      otherOne = Math.imul(otherOne ^ unit, otherPrime)
      otherNone = Math.imul(otherNone ^ unit, otherPrime)
    } else if (inWord) {
      inWord = false
      words += 1
      if (words >= wordsInShingle) {
        hashes[filled] = two
        hashes[filled + 1] = otherTwo
        filled += 2
      }
      two = Math.imul(one ^ space, prime)
      one = Math.imul(none ^ space, prime)
      none = start
      otherTwo = Math.imul(otherOne ^ space, otherPrime)
      otherOne = Math.imul(otherNone ^ space, otherPrime)
      otherNone = otherStart
    }
  }
  return hashes.subarray(0, filled)
}

/** Of each UTF-16 unit that was met: 1 is of a word, -1 is not. Half of a character stays 0: that depends on the other half. */
const ofWords = new Int8Array(0x10000)
const letterOrDigit = /^[\p{L}\p{N}]/u

function isOfWord(text: string, at: number, unit: number): boolean {
  if (unit >= 0xd800 && unit < 0xe000) {
    const whole = text.codePointAt(unit < 0xdc00 ? at : at - 1) ?? 0
    return whole > 0xffff && letterOrDigit.test(String.fromCodePoint(whole))
  }
  const found = letterOrDigit.test(String.fromCharCode(unit))
  ofWords[unit] = found ? 1 : -1
  return found
}

/** The bits that are set in more than half of every second hash, in hexadecimal. */
function majority(hashes: Int32Array, first: number): string {
  // How often each bit was set, all 32 side by side: the k-th plane has the k-th binary digit of each count.
  const planes = new Int32Array(32)
  for (let at = first; at < hashes.length; at += 2) {
    let carry = mixed(hashes[at] as number)
    for (let place = 0; carry !== 0; place += 1) {
      const plane = planes[place] as number
      planes[place] = plane ^ carry
      carry &= plane
    }
  }
  let bits = 0
  for (let bit = 0; bit < 32; bit += 1) {
    const count = planes.reduceRight((sum, plane) => 2 * sum + ((plane >>> bit) & 1), 0)
    if (4 * count > hashes.length) bits |= 1 << bit
  }
  return (bits >>> 0).toString(16).padStart(8, '0')
}

function mixed(hash: number): number {
  const once = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  const twice = Math.imul(once ^ (once >>> 13), 0xc2b2ae35)
  return twice ^ (twice >>> 16)
}

const differingMax = 3

export type Sketch = readonly [number, number]

/** Undefined for a text too short to have one. */
export const parseSketch = (sketch: string): Sketch | undefined =>
  sketch === '' ? undefined : [Number.parseInt(sketch.slice(0, 8), 16), Number.parseInt(sketch.slice(8), 16)]

/** Whether two sketches are of nearly the same text. */
export const isNearCopy = (one: Sketch, other: Sketch): boolean =>
  ones(one[0] ^ other[0]) + ones(one[1] ^ other[1]) <= differingMax

function ones(word: number): number {
  let count = 0
  for (let left = word; left !== 0; left &= left - 1) count += 1
  return count
}
