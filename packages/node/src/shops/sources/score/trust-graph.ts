/** Forward-only trust over agents and sources, in memory: the same rule the database aggregates, for simulations and tests. */
export type Citation = { agent: string; source: string /** Its quote was in the page. */; quoted?: boolean }

export type TrustGraph = {
  add(citations: readonly Citation[]): void
  mass(source: string): number
  /** Sum of the weights behind it. */
  stake(source: string): number
  /** Mean over cited sources. */
  meanMass(): number
}

/** Each agent spreads its weight over what it cites, damped by the square root: repeating oneself does not help. */
export function createTrustGraph(weightOf: (agent: string) => number): TrustGraph {
  const rows = new Map<string, Map<string, number>>()
  let aggregated: Map<string, { mass: number; stake: number }> | undefined
  const aggregate = () => {
    if (aggregated) return aggregated
    aggregated = new Map()
    for (const [agent, row] of rows) {
      const weight = weightOf(agent)
      if (weight === 0) continue
      let sum = 0
      for (const count of row.values()) sum += Math.sqrt(count)
      for (const [source, count] of row) {
        const share = (weight * Math.sqrt(count)) / sum
        const known = aggregated.get(source) ?? { mass: 0, stake: 0 }
        known.mass += share
        known.stake += weight
        aggregated.set(source, known)
      }
    }
    return aggregated
  }
  return {
    add: (citations) => {
      aggregated = undefined
      for (const { agent, source } of citations) {
        const row = rows.get(agent) ?? new Map<string, number>()
        row.set(source, (row.get(source) ?? 0) + 1)
        rows.set(agent, row)
      }
    },
    mass: (source) => aggregate().get(source)?.mass ?? 0,
    stake: (source) => aggregate().get(source)?.stake ?? 0,
    meanMass: () => {
      const all = [...aggregate().values()]
      return all.length === 0 ? 1 : all.reduce((sum, one) => sum + one.mass, 0) / all.length
    },
  }
}
