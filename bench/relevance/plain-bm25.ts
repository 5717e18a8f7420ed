import { tokenize } from '../../packages/node/src/shops/match/tokenize.ts'
import type { CollectionDoc } from './read-collection.ts'

/** BM25 as textbooks have it over title and text as one, Porter stems, k1 1.2 and b 0.75: what everything else is measured beside. */
export function createPlainBm25(docs: readonly CollectionDoc[], { k1 = 1.2, b = 0.75 } = {}) {
  const postings = new Map<string, { doc: number; count: number }[]>()
  const lengths = docs.map(({ title, text }, doc) => {
    const terms = tokenize(`${title} ${text}`)
    const counts = new Map<string, number>()
    for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1)
    for (const [term, count] of counts) {
      const list = postings.get(term) ?? []
      list.push({ doc, count })
      postings.set(term, list)
    }
    return terms.length
  })
  const meanLength = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, docs.length)
  return (query: string, limit: number): string[] => {
    const scores = new Map<number, number>()
    for (const term of tokenize(query)) {
      const list = postings.get(term) ?? []
      const rarity = Math.log(1 + (docs.length - list.length + 0.5) / (list.length + 0.5))
      for (const { doc, count } of list) {
        const saturated = (count * (k1 + 1)) / (count + k1 * (1 - b + (b * (lengths[doc] as number)) / meanLength))
        scores.set(doc, (scores.get(doc) ?? 0) + rarity * saturated)
      }
    }
    return [...scores]
      .sort(([a, one], [b, other]) => other - one || a - b)
      .slice(0, limit)
      .map(([doc]) => (docs[doc] as CollectionDoc).id)
  }
}
