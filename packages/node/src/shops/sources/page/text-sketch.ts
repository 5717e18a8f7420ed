const wordsInShingle = 3
/** Texts shorter than this say too little to count as a copy of another. */
const wordsMin = 40

/**
 * Sixty-four bits (simhash) of which texts that are nearly the same share nearly all: copies with another date or
 * another advertisement. Empty for a short text.
 */
export function textSketch(text: string): string {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  if (words.length < wordsMin) return ''
  // Two FNV-1a hashes from different starts.
  return [majority(words, 0x01000193, 0x85ebca6b), majority(words, 0x811c9dc5, 0x01000193)]
    .map((half) => half.toString(16).padStart(8, '0'))
    .join('')
}

/** The bits that are set in the hashes of more than half of all shingles. */
function majority(words: readonly string[], start: number, prime: number): number {
  // How often each bit was set, all 32 side by side: the k-th plane has the k-th binary digit of each count.
  const planes = new Int32Array(32)
  let used = 0
  const shingles = words.length - wordsInShingle + 1
  for (let at = 0; at < shingles; at += 1) {
    let carry = hashOf(words, at, start, prime)
    let place = 0
    for (; carry !== 0; place += 1) {
      const plane = planes[place] as number
      planes[place] = plane ^ carry
      carry &= plane
    }
    if (place > used) used = place
  }
  let bits = 0
  for (let bit = 0; bit < 32; bit += 1) {
    let count = 0
    for (let place = used - 1; place >= 0; place -= 1) count = 2 * count + (((planes[place] as number) >>> bit) & 1)
    if (2 * count > shingles) bits |= 1 << bit
  }
  return bits >>> 0
}

/** Of a shingle with spaces between its words. */
function hashOf(words: readonly string[], first: number, start: number, prime: number): number {
  let hash = start
  for (let at = first; at < first + wordsInShingle; at += 1) {
    if (at > first) hash = Math.imul(hash ^ 0x20, prime)
    const word = words[at] as string
    for (let place = 0; place < word.length; place += 1) hash = Math.imul(hash ^ word.charCodeAt(place), prime)
  }
  return mixed(hash)
}

function mixed(hash: number): number {
  const once = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  const twice = Math.imul(once ^ (once >>> 13), 0xc2b2ae35)
  return (twice ^ (twice >>> 16)) >>> 0
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
