import type { IndexedDoc } from '../../packages/node/src/shops/match/segment.ts'

const vocabulary = 50_000
const commonest = 30

/** Deterministic and quick; quality does not matter here. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 4_294_967_296
  }
}

/** Words as a language has them: the rank-th is used about 1/rank as often as the first. */
function createWords(random: () => number) {
  const cumulative = new Float64Array(vocabulary)
  let sum = 0
  for (let rank = 0; rank < vocabulary; rank += 1) {
    sum += 1 / (rank + 1)
    cumulative[rank] = sum
  }
  return (): number => {
    const wanted = random() * sum
    let [low, high] = [0, vocabulary - 1]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((cumulative[middle] as number) < wanted) low = middle + 1
      else high = middle
    }
    return low
  }
}

// Digits and an x: no stemmer changes them, so that every engine indexes the same terms.
const wordOf = (rank: number) => `x${rank.toString(36)}7`

/** Six words of title, 24 to 54 of text, as short pages have them. */
export function* syntheticPages(count: number, seed = 1): Generator<IndexedDoc> {
  const random = createRandom(seed)
  const next = createWords(random)
  const words = (length: number) => Array.from({ length }, () => wordOf(next())).join(' ')
  for (let at = 1; at <= count; at += 1)
    yield {
      pageId: at,
      domain: `site-${at % 20_000}.test`,
      title: words(6),
      text: words(24 + Math.floor(random() * 31)),
      language: 'en',
      licence: at % 3 === 0 ? 'CC-BY-4.0' : '',
      type: 'html',
      day: 20_000 - (at % 2_000),
    }
}

/** Two to five words each, none of the commonest: those would be stop words in a real language. */
export function syntheticQueries(count: number, seed = 2): string[] {
  const random = createRandom(seed)
  const next = createWords(random)
  const word = (): string => {
    const rank = next()
    return rank < commonest ? word() : wordOf(rank)
  }
  return Array.from({ length: count }, () => Array.from({ length: 2 + Math.floor(random() * 4) }, word).join(' '))
}
