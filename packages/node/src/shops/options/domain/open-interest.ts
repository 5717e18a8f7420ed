import type { Micro } from '@assay/protocol/money'

/** A topic as far as it decides what a push of its index costs. */
export type Crowd = {
  /** Fewest counted agents of a bucket lately. */
  agents: number
  /** Of all levels, 0..1. */
  share: number
  indexE4: bigint
}

/** Topics of two tiers are listed, and an agent counts for one in each. */
const listedTiers = 2

/**
 * Points by which one more agent moves the index at most, if it asks in every bucket that a settlement looks back on: up by
 * asking for the topic, down by asking for any others, which takes from the share of this one and of all the rest.
 */
export function pointsPerAgent({ agents, share, indexE4 }: Crowd): { up: number; down: number } {
  const points = Number(indexE4) / 10_000
  const crowd = Math.max(agents, 1)
  const part = Math.min(Math.max(share, 1e-9), 0.99)
  return { up: (points * (1 - part)) / crowd, down: (points * part * listedTiers) / crowd }
}

/**
 * Micro-USDC per point that all calls, or all puts, of one topic and expiry may have together, so that one more paid agent
 * (`agentMicro`, really spent) never earns more than it costs. An agent moves its own topic and the one above it `up` and
 * all listed topics `down`; either move pays twice, to holders of one side and to writers of the other. Half of what an
 * agent costs is allotted to what rises and half to what falls. The derivation is in docs/options.md.
 */
export function interestPerSide(crowd: Crowd, agentMicro: Micro, topicsListed: number): Micro {
  const { up, down } = pointsPerAgent(crowd)
  const mostPoints = Math.max(2 * listedTiers * up, 2 * topicsListed * down) * 2
  return BigInt(Math.floor(Number(agentMicro) / mostPoints))
}
