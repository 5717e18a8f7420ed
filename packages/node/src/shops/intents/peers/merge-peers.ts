/** What one peer said of a bucket, and what it had said before. */
export type PeerBucket = { did: string; endsAtMs: number; counts: ReadonlyMap<string, number> }

export type PeerPart = { demand: number; nodes: number }

export type MergeRules = {
  k: number
  /** How many times this node's own figure one peer may count for at most. */
  capTimes: number
  /** Age at the end of this node's bucket beyond which a peer's figures are old. */
  staleMs: number
}

export type Merged = {
  clusters: ReadonlyMap<string, PeerPart>
  peers: { did: string; endsAtMs: number | null; state: 'counted' | 'stale' | 'silent' }[]
  /** Figures left out because they leapt. */
  outliers: number
}

/** A figure may be so many times what the peer usually says; a first few of them make a habit. */
const leapTimes = 8
const habitMin = 4

/**
 * Adds what peers published up to a moment, each within bounds: whatever a peer says, it moves a topic by no more than
 * this node's own figure times the cap, or by `k` where this node published none.
 */
export function mergePeers(
  own: ReadonlyMap<string, number>,
  histories: ReadonlyMap<string, readonly PeerBucket[]>,
  endsAtMs: number,
  rules: MergeRules,
): Merged {
  const clusters = new Map<string, { demand: number; nodes: number }>()
  const peers: Merged['peers'] = []
  let outliers = 0
  for (const [did, buckets] of histories) {
    const known = buckets.filter((bucket) => bucket.endsAtMs <= endsAtMs).sort((a, b) => b.endsAtMs - a.endsAtMs)
    const [newest, ...before] = known
    const fresh = newest !== undefined && endsAtMs - newest.endsAtMs <= rules.staleMs
    peers.push({
      did,
      endsAtMs: newest?.endsAtMs ?? null,
      state: newest === undefined ? 'silent' : fresh ? 'counted' : 'stale',
    })
    if (!fresh) continue
    for (const [cluster, value] of newest.counts) {
      // A peer that shows fewer than k agents does not keep the promise that this stream makes.
      if (value < rules.k) continue
      if (leaps(value, before, cluster, rules.k)) {
        outliers += 1
        continue
      }
      const counted = Math.min(value, Math.max(rules.k, Math.floor(rules.capTimes * (own.get(cluster) ?? 0))))
      const sum = clusters.get(cluster) ?? { demand: 0, nodes: 0 }
      clusters.set(cluster, { demand: sum.demand + counted, nodes: sum.nodes + 1 })
    }
  }
  return { clusters, peers, outliers }
}

function leaps(value: number, before: readonly PeerBucket[], cluster: string, k: number): boolean {
  const said = before.flatMap(({ counts }) => counts.get(cluster) ?? []).sort((a, b) => a - b)
  if (said.length < habitMin) return false
  return value > leapTimes * (said[Math.floor(said.length / 2)] as number) + k
}
