/** What passes between the intent stream and the options exchange: published figures only, so that anyone can recompute an index. */

/** A topic that demand is counted for: a node of the IAB content taxonomy, or one of the operator's own list. */
export type Cluster = {
  id: string
  name: string
  parentId: string | null
  /** 1 is the broadest. */
  tier: number
  source: 'iab' | 'operator'
}

/** What the stream said of one cluster and one closed bucket of time. */
export type PublishedBucket = {
  cluster: string
  startsAtMs: number
  endsAtMs: number
  /** Distinct agents, bounded per agent and noisy; null where too few were seen to publish the cell. */
  demand: number | null
  /** Distinct funding clusters whose bond outlasts every listed expiry, noisy; the only figure that moves an index. */
  bonded: number | null
  /** Of the signed event that published it. */
  eventId: string
  synthetic: boolean
}

export type PublishedDemand = {
  clusters(): readonly Cluster[]
  /** Oldest first; of every cluster when none is named. */
  buckets(range: { cluster?: string; fromMs: number; toMs: number }): Promise<PublishedBucket[]>
  /** Called after a bucket was published by any process; answers how to stop listening. */
  onPublished(listener: (buckets: readonly PublishedBucket[]) => void): () => void
}
