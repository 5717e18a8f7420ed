const wordsInShingle = 3
const bits = 64
/** Texts shorter than this say too little to count as a copy of another. */
const wordsMin = 40

/**
 * Sixty-four bits (simhash) of which texts that are nearly the same share nearly all: copies with another date or
 * another advertisement. Empty for a short text.
 */
export function textSketch(text: string): string {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  if (words.length < wordsMin) return ''
  const votes = new Int32Array(bits)
  for (let at = 0; at + wordsInShingle <= words.length; at += 1) {
    const [low, high] = hashOf(`${words[at]} ${words[at + 1]} ${words[at + 2]}`)
    for (let bit = 0; bit < 32; bit += 1) {
      votes[bit] = (votes[bit] as number) + ((low >>> bit) & 1 ? 1 : -1)
      votes[32 + bit] = (votes[32 + bit] as number) + ((high >>> bit) & 1 ? 1 : -1)
    }
  }
  let sketch = 0n
  for (let bit = 0; bit < bits; bit += 1) if ((votes[bit] as number) > 0) sketch |= 1n << BigInt(bit)
  return sketch.toString(16).padStart(bits / 4, '0')
}

/** Two FNV-1a hashes from different starts. */
function hashOf(text: string): [number, number] {
  let [low, high] = [0x811c9dc5, 0x01000193]
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    low = Math.imul(low ^ code, 0x01000193)
    high = Math.imul(high ^ code, 0x85ebca6b)
  }
  return [mixed(low), mixed(high)]
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
