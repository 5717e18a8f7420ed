import { tokenize } from '../match/index.ts'
import type { ClusterNode, ClusterTable } from './clusters.ts'

export type Classifier = {
  /** The path of topics from the broadest to the one that the question is about; empty where none fits. */
  classify(query: string): readonly ClusterNode[]
  /** The word that stands for a term in print, for terms that occur in the names of topics; others have none. */
  wordOf(term: string): string | undefined
  /** Words in print that a topic or anything below it is named by. */
  wordsOf(cluster: string): readonly string[]
}

// The usual BM25 constants; texts of two to ten words differ little in length.
const k1 = 1.2
const b = 0.5
/** A name says what a topic is; the topics above it say where. */
const nameWeight = 2
const ancestorWeight = 0.5

type Posting = { node: number; weight: number }

/** BM25 of a question against the names of topics and the words the operator gave them. */
export function createClassifier(clusterTable: ClusterTable): Classifier {
  const postings = new Map<string, Posting[]>()
  const words = new Map<string, string>()
  const wordsBelow = new Map<string, Set<string>>()
  const lengths: number[] = []
  for (const [index, node] of clusterTable.nodes.entries()) {
    let length = 0
    for (const [term, weight] of weightsOf(clusterTable, node)) {
      length += weight
      const list = postings.get(term)
      if (list) list.push({ node: index, weight })
      else postings.set(term, [{ node: index, weight }])
    }
    lengths.push(length)
    for (const text of [node.name, ...node.terms])
      for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
        const [term] = tokenize(word)
        if (term === undefined) continue
        if (!words.has(term)) words.set(term, word)
        for (const id of [node.id, ...node.ancestors])
          wordsBelow.set(id, (wordsBelow.get(id) ?? new Set()).add(words.get(term) as string))
      }
  }
  const average = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, lengths.length)
  const scoresOf = (query: string) => {
    const scores = new Map<number, number>()
    for (const term of new Set(tokenize(query))) {
      const list = postings.get(term) ?? []
      const rarity = Math.log(1 + (clusterTable.nodes.length - list.length + 0.5) / (list.length + 0.5))
      for (const { node, weight } of list) {
        const length = 1 - b + (b * (lengths[node] ?? 0)) / average
        scores.set(node, (scores.get(node) ?? 0) + (rarity * weight * (k1 + 1)) / (weight + k1 * length))
      }
    }
    return scores
  }
  return {
    wordOf: (term) => words.get(term),
    wordsOf: (cluster) => [...(wordsBelow.get(cluster) ?? [])],
    classify: (query) => {
      const [best] = [...scoresOf(query)].sort(([x, a], [y, c]) => c - a || x - y)
      const node = best && clusterTable.nodes[best[0]]
      if (!node) return []
      return [...node.ancestors]
        .reverse()
        .concat(node.id)
        .flatMap((id) => clusterTable.byId.get(id) ?? [])
    },
  }
}

function weightsOf(clusterTable: ClusterTable, node: ClusterNode): Map<string, number> {
  const weights = new Map<string, number>()
  const add = (text: string, weight: number) => {
    for (const term of tokenize(text)) weights.set(term, (weights.get(term) ?? 0) + weight)
  }
  add(node.name, nameWeight)
  for (const term of node.terms) add(term, nameWeight)
  for (const id of node.ancestors) add(clusterTable.byId.get(id)?.name ?? '', ancestorWeight)
  return weights
}
