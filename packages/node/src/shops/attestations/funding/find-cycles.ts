/** Citations that one cluster paid for and another was paid for. */
export type Flow = { payer: string; creator: string; citations: number }

/** A cluster that sends this share of its citations one way does it on purpose. */
const heavyShare = 0.2
const heavyCount = 3
/** Longer rounds are found in any honest market. */
const cycleMax = 4

/** Pairs of payer and creator in a cycle of clusters which mainly cite each other. */
export function findCycles(flows: readonly Flow[]): Set<string> {
  const totals = new Map<string, number>()
  for (const { payer, citations } of flows) totals.set(payer, (totals.get(payer) ?? 0) + citations)
  const heavy = new Map<string, string[]>()
  for (const { payer, creator, citations } of flows)
    if (payer !== creator && citations >= heavyCount && citations >= heavyShare * (totals.get(payer) ?? 0))
      heavy.set(payer, [...(heavy.get(payer) ?? []), creator])
  const rounds = new Set<string>()
  for (const [payer, creators] of heavy)
    for (const creator of creators)
      if (leadsTo(heavy, creator, payer, cycleMax - 1)) rounds.add(pairKey(payer, creator))
  return rounds
}

export const pairKey = (payer: string, creator: string): string => `${payer} ${creator}`

function leadsTo(heavy: ReadonlyMap<string, readonly string[]>, from: string, to: string, steps: number): boolean {
  if (from === to) return true
  if (steps === 0) return false
  return (heavy.get(from) ?? []).some((next) => leadsTo(heavy, next, to, steps - 1))
}

/** In bits: 0 when all went to one place. */
export function entropyOf(counts: readonly number[]): number {
  const total = counts.reduce((sum, count) => sum + count, 0)
  return counts.reduce((bits, count) => (count === 0 ? bits : bits - (count / total) * Math.log2(count / total)), 0)
}
