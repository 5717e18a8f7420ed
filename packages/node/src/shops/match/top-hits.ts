export type Hit = { pageId: number; score: number; segment: number; doc: number }

/**
 * The best so many documents, by their number over all segments; a heap with the worst of them on top. Numbers ascend
 * with the ids of pages, so that no id is read for a document that does not stay.
 */
export type TopHits = {
  readonly limit: number
  count: number
  /** A score below this cannot enter; one that equals it may, by the age of its page. */
  threshold: number
  readonly scores: Float64Array
  readonly numbers: Uint32Array
}

export function createTopHits(limit: number): TopHits {
  return { limit, count: 0, threshold: 0, scores: new Float64Array(limit), numbers: new Uint32Array(limit) }
}

/** In any order, each document once. */
export function offerHit(hits: TopHits, score: number, number: number): void {
  let at = 0
  if (hits.count === hits.limit) {
    if (!isWorse(hits, 0, score, number)) return
    at = sink(hits, score, number)
  } else {
    at = hits.count
    hits.count += 1
    for (let above = (at - 1) >> 1; at > 0 && !isWorse(hits, above, score, number); above = (at - 1) >> 1) {
      move(hits, above, at)
      at = above
    }
  }
  hits.scores[at] = score
  hits.numbers[at] = number
  if (hits.count === hits.limit) hits.threshold = hits.scores[0] as number
}

/** Best first; nothing is left of them afterwards. */
export function takeHits(hits: TopHits): { score: number; number: number }[] {
  const best: { score: number; number: number }[] = []
  while (hits.count > 0) {
    hits.count -= 1
    best.push({ score: hits.scores[0] as number, number: hits.numbers[0] as number })
    move(hits, hits.count, sink(hits, hits.scores[hits.count] as number, hits.numbers[hits.count] as number))
  }
  return best.reverse()
}

/** Whether the document there ranks below: a lower score, or the same and a younger page. */
function isWorse({ scores, numbers }: TopHits, at: number, score: number, number: number): boolean {
  return (scores[at] as number) < score || (scores[at] === score && (numbers[at] as number) > number)
}

/** Lifts what is worse from the top down; returns the place that is free then. */
function sink(hits: TopHits, score: number, number: number): number {
  const { count, scores, numbers } = hits
  let at = 0
  for (let below = 1; below < count; below = 2 * at + 1) {
    if (below + 1 < count && isWorse(hits, below + 1, scores[below] as number, numbers[below] as number)) below += 1
    if (!isWorse(hits, below, score, number)) break
    move(hits, below, at)
    at = below
  }
  return at
}

function move({ scores, numbers }: TopHits, from: number, to: number): void {
  scores[to] = scores[from] as number
  numbers[to] = numbers[from] as number
}
