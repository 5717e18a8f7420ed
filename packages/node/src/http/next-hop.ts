import { segmentsOf } from '@assay/till/selling'
import type { RouteDeclaration } from './route.ts'

/** Writes the next hop of a route from the raw segments of the path that was asked for. */
export type NextHop = (raw: readonly string[]) => string

/** The next hop of an answer that made something, from the id of what it made. */
export type MadeHop = (id: string) => string

/**
 * A next hop that is the example of another route stands for the thing that an answer makes: `/v1/things/<example id>`
 * becomes `/v1/things/<id of the answer>`. Undefined for every other hop.
 */
export function madeHopOf(next: string, routes: readonly RouteDeclaration[]): MadeHop | undefined {
  for (const { path, example, method } of routes) {
    if (method !== 'GET' || !path.includes(':')) continue
    const [name, ...others] = segmentsOf(path).filter((segment) => segment.startsWith(':'))
    const id = name === undefined ? undefined : example.params?.[name.slice(1)]
    if (name === undefined || id === undefined || others.length > 0) continue
    if (path.replace(name, id) === next) return (made) => path.replace(name, made)
  }
  return undefined
}

const madeIdPattern = /^\{"(?:id|domain)":"([A-Za-z0-9_.-]{1,253})"/

/** The id, or the domain, with which a JSON answer begins. */
export function madeId(body: Uint8Array | string): string | undefined {
  const start = typeof body === 'string' ? body.slice(0, 300) : Buffer.from(body.subarray(0, 300)).toString('latin1')
  return madeIdPattern.exec(start)?.[1]
}

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

/** Routes whose next hop belongs to a shop that is not open lead to another one. */
export function settleNextHops(routes: readonly RouteDeclaration[]): RouteDeclaration[] {
  const paths = new Set(routes.map(({ path }) => path.replace(/:[^/]+/g, ':')))
  return routes.map((route) => {
    const { nextElse } = route
    if (nextElse === undefined || paths.has(route.next.replace(/:[^/]+/g, ':'))) return route
    return { ...route, next: nextElse }
  })
}
