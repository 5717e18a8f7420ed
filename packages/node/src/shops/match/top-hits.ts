export type Hit = { pageId: number; score: number; segment: number; doc: number }

/** True when `a` ranks below `b`: a lower score, or the same and a younger page. */
const isWorse = (a: Hit, b: Hit) => a.score < b.score || (a.score === b.score && a.pageId > b.pageId)

/** The best so many hits; a heap with the worst of them on top. */
export function createTopHits(limit: number) {
  const heap: Hit[] = []
  const swap = (a: number, b: number) => {
    const kept = heap[a] as Hit
    heap[a] = heap[b] as Hit
    heap[b] = kept
  }
  const sink = () => {
    for (let at = 0; ; ) {
      let worst = at
      const left = 2 * at + 1
      if (left < heap.length && isWorse(heap[left] as Hit, heap[worst] as Hit)) worst = left
      if (left + 1 < heap.length && isWorse(heap[left + 1] as Hit, heap[worst] as Hit)) worst = left + 1
      if (worst === at) return
      swap(at, worst)
      at = worst
    }
  }
  const rise = () => {
    for (let at = heap.length - 1; at > 0; ) {
      const parent = (at - 1) >> 1
      if (!isWorse(heap[at] as Hit, heap[parent] as Hit)) return
      swap(at, parent)
      at = parent
    }
  }
  return {
    limit,
    /** A score below this cannot enter; one that equals it may, by the age of its page. */
    threshold: () => (heap.length < limit ? 0 : (heap[0] as Hit).score),
    /** In any order, each document once. */
    offer: (pageId: number, score: number, segment: number, doc: number): void => {
      if (heap.length < limit) {
        heap.push({ pageId, score, segment, doc })
        rise()
        return
      }
      const worst = heap[0] as Hit
      if (score < worst.score || (score === worst.score && pageId > worst.pageId)) return
      // The hit that falls out lends its object to the one that comes in.
      worst.pageId = pageId
      worst.score = score
      worst.segment = segment
      worst.doc = doc
      sink()
    },
    best: (): Hit[] => heap.slice().sort((a, b) => (isWorse(a, b) ? 1 : -1)),
  }
}

export type TopHits = ReturnType<typeof createTopHits>
