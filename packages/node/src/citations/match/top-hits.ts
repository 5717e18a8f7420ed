export type Hit = { pageId: number; score: number; segment: number; doc: number }

/** True when `a` stands behind `b`: a lower score, or the same and a younger page. */
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
      for (const child of [2 * at + 1, 2 * at + 2])
        if (child < heap.length && isWorse(heap[child] as Hit, heap[worst] as Hit)) worst = child
      if (worst === at) return
      swap(at, worst)
      at = worst
    }
  }
  return {
    /** A score below this cannot enter; one that equals it may, by the age of its page. */
    threshold: () => (heap.length < limit ? 0 : (heap[0] as Hit).score),
    offer: (hit: Hit): void => {
      if (heap.length < limit) {
        heap.push(hit)
        for (let at = heap.length - 1; at > 0; ) {
          const parent = (at - 1) >> 1
          if (!isWorse(heap[at] as Hit, heap[parent] as Hit)) return
          swap(at, parent)
          at = parent
        }
      } else if (isWorse(heap[0] as Hit, hit)) {
        heap[0] = hit
        sink()
      }
    },
    best: (): Hit[] => heap.slice().sort((a, b) => (isWorse(a, b) ? 1 : -1)),
  }
}

export type TopHits = ReturnType<typeof createTopHits>
