import { segmentsOf } from './path-tree.ts'
import type { RouteDeclaration } from './route.ts'

/** Writes the next hop of a route from the raw segments of the path that was asked for. */
export type NextHop = (raw: readonly string[]) => string

/** Raw segments are visible ASCII, so they are safe in a header as they are. */
export function nextHopOf(declaration: RouteDeclaration): NextHop {
  const { next, path } = declaration
  if (!next.includes(':')) return () => next
  const names = segmentsOf(path).filter((segment) => segment.startsWith(':'))
  const parts = segmentsOf(next).map((segment) => (segment.startsWith(':') ? names.indexOf(segment) : segment))
  return (raw) => {
    let hop = ''
    for (const part of parts) hop += `/${typeof part === 'number' ? raw[part] : part}`
    return hop
  }
}
