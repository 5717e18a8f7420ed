import { decodePathParam } from './path-params.ts'

/** Routes by raw path segments. Fixed segments win over parameters; nothing is normalised, so a near miss matches nothing. */
export type PathTree<T> = {
  find(path: string): { values: Map<string, T>; params: Record<string, string> } | undefined
  add(pattern: string, method: string, value: T): void
}

type Node<T> = {
  fixed: Map<string, Node<T>>
  param: Node<T> | undefined
  names: readonly string[]
  values: Map<string, T>
}

const newNode = <T>(): Node<T> => ({ fixed: new Map(), param: undefined, names: [], values: new Map() })

export function segmentsOf(path: string): string[] {
  return path === '/' ? [] : path.slice(1).split('/')
}

export function createPathTree<T>(): PathTree<T> {
  const root = newNode<T>()
  return {
    add: (pattern, method, value) => {
      let node = root
      const names: string[] = []
      for (const segment of segmentsOf(pattern)) {
        if (segment.startsWith(':')) {
          names.push(segment.slice(1))
          node.param ??= newNode()
          node = node.param
        } else {
          const child = node.fixed.get(segment) ?? newNode<T>()
          node.fixed.set(segment, child)
          node = child
        }
      }
      node.names = names
      node.values.set(method, value)
    },
    find: (path) => {
      if (!path.startsWith('/')) return undefined
      const raw: string[] = []
      const node = descend(root, segmentsOf(path), 0, raw)
      if (!node) return undefined
      const params: Record<string, string> = {}
      for (const [i, name] of node.names.entries()) {
        const value = decodePathParam(raw[i] ?? '')
        if (value === undefined) return undefined
        params[name] = value
      }
      return { values: node.values, params }
    },
  }
}

function descend<T>(node: Node<T>, segments: readonly string[], depth: number, raw: string[]): Node<T> | undefined {
  const segment = segments[depth]
  if (segment === undefined) return node.values.size > 0 ? node : undefined
  const fixed = node.fixed.get(segment)
  const found = fixed && descend(fixed, segments, depth + 1, raw)
  if (found) return found
  if (!node.param || segment === '') return undefined
  raw.push(segment)
  const below = descend(node.param, segments, depth + 1, raw)
  if (!below) raw.pop()
  return below
}
