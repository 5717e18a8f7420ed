const scoreUnit = 1_000
/** Rare words count a little more than BM25 has it. */
const rarityPower = 1.3

/** How little a term that is on `count` of `docCount` pages says. */
export const rarityOf = (docCount: number, count: number) => Math.log(1 + (docCount - count + 0.5) / (count + 0.5))

export const weightOf = (times: number, rarity: number) =>
  Math.max(1, Math.round(scoreUnit * times * rarity ** rarityPower))

/** What each term of a question weighs, as a share of all of them: `covered` of a page is the sum of those in it. */
export function termShares(
  terms: ReadonlyMap<string, number>,
  counts: ReadonlyMap<string, number>,
  docCount: number,
): Map<string, number> {
  const weights = [...terms].map(
    ([term, times]) => [term, weightOf(times, rarityOf(docCount, Math.min(docCount, counts.get(term) ?? 0)))] as const,
  )
  const all = weights.reduce((sum, [, weight]) => sum + weight, 0)
  return new Map(weights.map(([term, weight]) => [term, weight / Math.max(1, all)]))
}

/** Words of which a term is on no page. */
export const unknownWords = (
  words: ReadonlyMap<string, readonly string[]>,
  counts: ReadonlyMap<string, number>,
): string[] =>
  [...words].filter(([, terms]) => terms.some((term) => (counts.get(term) ?? 0) === 0)).map(([word]) => word)
