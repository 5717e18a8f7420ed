import { readFileSync } from 'node:fs'
import type { Cluster } from '../ports.ts'

export const taxonomyAttribution =
  'Topic clusters after the IAB Tech Lab Content Taxonomy 3.1, CC BY 3.0 (https://creativecommons.org/licenses/by/3.0/)'

/** One of the operator's own topics: counted for the words of its name and these. */
export type OwnCluster = {
  id: string
  name: string
  parent?: string | undefined
  terms?: readonly string[] | undefined
}

export type ClusterNode = Cluster & {
  /** Words beside the name that tell of this topic. */
  terms: readonly string[]
  /** The nearest first. */
  ancestors: readonly string[]
}

export type ClusterTable = {
  /** What demand is counted for. Topics that the taxonomy marks as sensitive are not among them. */
  nodes: readonly ClusterNode[]
  byId: ReadonlyMap<string, ClusterNode>
  /** Topics directly below one, or the broadest ones. */
  childrenOf(id: string | null): readonly ClusterNode[]
}

type Line = { id: string; parent: string | null; name: string; sensitive: boolean }

export function parseTaxonomy(text: string): Line[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [id = '', parent = '', name = '', mark] = line.split('|')
      return { id, parent: parent === '' ? null : parent, name, sensitive: mark === '!' }
    })
}

let shipped: readonly Line[] | undefined

function taxonomy(): readonly Line[] {
  shipped ??= parseTaxonomy(readFileSync(new URL('./iab-clusters.txt', import.meta.url), 'utf8'))
  return shipped
}

/** The shipped taxonomy and the operator's own topics below or beside it. Throws RangeError for a list that does not fit. */
export function createClusterTable(own: readonly OwnCluster[] = []): ClusterTable {
  const lines = new Map(taxonomy().map((line) => [line.id, line]))
  const added = new Map<string, OwnCluster>()
  for (const one of own) {
    if (lines.has(one.id)) throw new RangeError(`the cluster ${one.id} is named twice`)
    lines.set(one.id, { id: one.id, parent: one.parent ?? null, name: one.name, sensitive: false })
    added.set(one.id, one)
  }
  const nodes: ClusterNode[] = []
  for (const line of lines.values()) {
    const ancestors = ancestorsOf(lines, line)
    // What is below a sensitive topic tells of it.
    if (line.sensitive || ancestors.some((id) => lines.get(id)?.sensitive)) continue
    nodes.push({
      id: line.id,
      name: line.name,
      parentId: line.parent,
      tier: ancestors.length + 1,
      source: added.has(line.id) ? 'operator' : 'iab',
      terms: added.get(line.id)?.terms ?? [],
      ancestors,
    })
  }
  const children = new Map<string | null, ClusterNode[]>()
  for (const node of nodes) children.set(node.parentId, [...(children.get(node.parentId) ?? []), node])
  return {
    nodes,
    byId: new Map(nodes.map((node) => [node.id, node])),
    childrenOf: (id) => children.get(id) ?? [],
  }
}

function ancestorsOf(lines: ReadonlyMap<string, Line>, line: Line): string[] {
  const found: string[] = []
  for (let above = line.parent; above !== null; ) {
    const parent = lines.get(above)
    if (!parent) throw new RangeError(`the cluster ${line.id} is below ${above}, which is not known`)
    if (found.includes(above) || above === line.id) throw new RangeError(`the cluster ${line.id} is below itself`)
    found.push(above)
    above = parent.parent
  }
  return found
}
