import { decodePathParam } from './path-params.ts'

/** Routes by raw path segments. Fixed segments win over parameters; nothing is normalised, so a near miss matches nothing. */
export type PathTree<T> = {
  find(path: string): PathMatch<T> | undefined
  add(pattern: string, method: string, value: T): void
}

export type PathMatch<T> = {
  values: ReadonlyMap<string, T>
  params: Record<string, string>
  /** The segments behind the parameters as they were in the path, in order. */
  raw: readonly string[]
}

type Node<T> = {
  fixed: Map<string, Node<T>>
  param: Node<T> | undefined
  names: readonly string[]
  values: Map<string, T>
}

const newNode = <T>(): Node<T> => ({ fixed: new Map(), param: undefined, names: [], values: new Map() })
const nothing: readonly string[] = []

export function segmentsOf(path: string): string[] {
  return path === '/' ? [] : path.slice(1).split('/')
}

export function createPathTree<T>(): PathTree<T> {
  const root = newNode<T>()
  // Paths without parameters are whole strings, so they are found as such.
  const exact = new Map<string, Node<T>>()
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
      if (names.length === 0) exact.set(pattern, node)
    },
    find: (path) => {
      const plain = exact.get(path)
      if (plain) return { values: plain.values, params: {}, raw: nothing }
      if (path.charCodeAt(0) !== 47 || path.length === 1) return undefined
      const raw: string[] = []
      const node = descend(root, path, 1, raw)
      return node && withParams(node, raw)
    },
  }
}

function withParams<T>(node: Node<T>, raw: readonly string[]): PathMatch<T> | undefined {
  const params: Record<string, string> = {}
  for (let i = 0; i < raw.length; i += 1) {
    const value = decodePathParam(raw[i] as string)
    if (value === undefined) return undefined
    params[node.names[i] as string] = value
  }
  return { values: node.values, params, raw }
}

/** `start` is the first character of the next segment; past the end means that the path is used up. */
function descend<T>(node: Node<T>, path: string, start: number, raw: string[]): Node<T> | undefined {
  if (start > path.length) return node.values.size > 0 ? node : undefined
  const slash = path.indexOf('/', start)
  const end = slash < 0 ? path.length : slash
  const segment = path.slice(start, end)
  const fixed = node.fixed.get(segment)
  const found = fixed && descend(fixed, path, end + 1, raw)
  if (found) return found
  if (!node.param || segment === '') return undefined
  raw.push(segment)
  const below = descend(node.param, path, end + 1, raw)
  if (!below) raw.pop()
  return below
}
