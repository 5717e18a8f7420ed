import { tokenize } from '../match/index.ts'
import type { Classifier } from './classify.ts'
import type { ClusterNode } from './clusters.ts'

/** One search that was paid for, with the agent that asked: wallets of one cluster are one agent. */
export type PaidSearch = { agent: string; bonded: boolean; query: string }

/** Exact figures of one topic in one bucket. They never leave the node without noise. */
export type Cell = {
  /** Distinct agents with a bond, and without: no agent is in both. */
  bonded: number
  others: number
  /** Agents by word, where this topic is the narrowest that they are counted for. */
  words: ReadonlyMap<string, number>
}

type OpenCell = { bonded: number; others: number; words: Map<string, number> }

/**
 * Counts agents, not searches: each once in a bucket, for the one topic it asked for most and those above it. So
 * topics add up to those above them, and the noise that hides one agent is known beforehand.
 */
export function countDemand(
  searches: readonly PaidSearch[],
  classifier: Classifier,
  tiers: number,
): ReadonlyMap<string, Cell> {
  const cells = new Map<string, OpenCell>()
  for (const mine of byAgent(searches)) {
    const part = mine.some((search) => search.bonded) ? 'bonded' : 'others'
    const path = pathOf(mine, classifier, tiers)
    for (const [at, { id }] of path.topics.entries()) {
      const cell = cells.get(id) ?? { bonded: 0, others: 0, words: new Map<string, number>() }
      cell[part] += 1
      const word = at === path.topics.length - 1 ? wordOf(path.queries, classifier, id) : undefined
      if (word !== undefined) cell.words.set(word, (cell.words.get(word) ?? 0) + 1)
      cells.set(id, cell)
    }
  }
  return cells
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

/** From the broadest topic down, each time what the agent asked for most; of equals, what comes first by name. */
function pathOf(mine: readonly PaidSearch[], classifier: Classifier, tiers: number) {
  let left = mine.flatMap(({ query }) => {
    const path = classifier.classify(query)
    return path.length === 0 ? [] : [{ query, path }]
  })
  const topics: ClusterNode[] = []
  for (let tier = 0; tier < tiers; tier += 1) {
    const asked = new Map<string, typeof left>()
    for (const one of left) {
      const id = one.path[tier]?.id
      if (id !== undefined) asked.set(id, [...(asked.get(id) ?? []), one])
    }
    const most = [...asked].sort(([a, x], [b, y]) => y.length - x.length || (a < b ? -1 : 1))[0]?.[1]
    const topic = most?.[0]?.path[tier]
    if (!most || !topic) break
    topics.push(topic)
    left = most
  }
  return { topics, queries: left.map(({ query }) => query) }
}

/** The word of the topic that the agent said most: other words could be anybody's name. */
function wordOf(queries: readonly string[], classifier: Classifier, topic: string): string | undefined {
  const said = new Map<string, number>()
  const known = new Set(classifier.wordsOf(topic))
  for (const query of queries)
    for (const term of new Set(tokenize(query))) {
      const word = classifier.wordOf(term)
      if (word !== undefined && known.has(word)) said.set(word, (said.get(word) ?? 0) + 1)
    }
  return [...said].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))[0]?.[0]
}
