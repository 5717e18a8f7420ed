import type { Micro } from '@assay/protocol/money'

export type PushCost = {
  /** Agents behind a bucket of the cluster. */
  agents: number
  /** Of all demand, 0..1. */
  share: number
  /** Buckets that must be pushed: half of the settlement window decides a median. */
  buckets: number
  bondMicro: Micro
  matchMicro: Micro
}

/** The index follows the square root of the crowd, so one percent more of it takes two percent more agents. */
const agentsPerPercent = 1.01 ** 2 - 1

/** What it costs at least to move the settlement value by one percent: bonds to lock, and a paid match in every bucket. */
export function pushCost({ agents, share, buckets, bondMicro, matchMicro }: PushCost): Micro {
  const extra = Math.max(1, Math.ceil((Math.max(agents, 1) * agentsPerPercent) / Math.max(1 - share, 0.01)))
  return BigInt(extra) * (bondMicro + BigInt(buckets) * matchMicro)
}

/** The most that a series may ever pay in all: so much that pushing the index is not worth its cost. */
export function openInterestLimit(cost: Micro, factor: number): Micro {
  return cost * BigInt(factor)
}
