import { tokenize } from '../match/index.ts'
import type { Classifier } from './classify.ts'

/** One search that was paid for, with who asked: wallets of one cluster are one agent. */
export type PaidSearch = { agent: string; bonded: boolean; query: string }

/** Exact figures of one topic in one bucket. They never leave the node without noise. */
export type Cell = {
  cluster: string
  agents: number
  bonded: number
  /** Distinct agents by word, each agent for one word. */
  words: ReadonlyMap<string, number>
}

/**
 * Counts agents, not searches: anyone who asks a thousand times weighs as much as the party that asks once, at most once in a
 * topic and in few topics, so that the noise which hides one agent is known beforehand.
 */
export function countDemand(searches: readonly PaidSearch[], classifier: Classifier, clustersPerAgent: number): Cell[] {
  const cells = new Map<string, { agents: number; bonded: number; words: Map<string, number> }>()
  for (const mine of byAgent(searches)) {
    const bonded = mine.some((search) => search.bonded)
    for (const [cluster, queries] of topicsOf(mine, classifier, clustersPerAgent)) {
      const cell = cells.get(cluster) ?? { agents: 0, bonded: 0, words: new Map<string, number>() }
      cell.agents += 1
      if (bonded) cell.bonded += 1
      const word = wordOf(queries, classifier)
      if (word !== undefined) cell.words.set(word, (cell.words.get(word) ?? 0) + 1)
      cells.set(cluster, cell)
    }
  }
  return [...cells].map(([cluster, cell]) => ({ cluster, ...cell })).sort(byCluster)
}

function byAgent(searches: readonly PaidSearch[]): Iterable<PaidSearch[]> {
  const agents = new Map<string, PaidSearch[]>()
  for (const search of searches) {
    const mine = agents.get(search.agent)
    if (mine) mine.push(search)
    else agents.set(search.agent, [search])
  }
  return agents.values()
}

const byCluster = (one: Cell, other: Cell) => (one.cluster < other.cluster ? -1 : 1)

/** What the agent asked for most often; of equals, what comes first by name, so that a repeat gives the same. */
function topicsOf(mine: readonly PaidSearch[], classifier: Classifier, max: number): [string, string[]][] {
  const topics = new Map<string, string[]>()
  for (const { query } of mine)
    for (const id of classifier.classify(query, max)) {
      const queries = topics.get(id)
      if (queries) queries.push(query)
      else topics.set(id, [query])
    }
  return [...topics].sort(([a, x], [b, y]) => y.length - x.length || (a < b ? -1 : 1)).slice(0, max)
}

/** The word of the taxonomy that the agent said most: other words could be anybody's name. */
function wordOf(queries: readonly string[], classifier: Classifier): string | undefined {
  const said = new Map<string, number>()
  for (const query of queries)
    for (const term of new Set(tokenize(query))) {
      const word = classifier.wordOf(term)
      if (word !== undefined) said.set(word, (said.get(word) ?? 0) + 1)
    }
  return [...said].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))[0]?.[0]
}
