import type { Json } from '@assay/protocol/canonical-json'
import type { PaidRoute } from '@assay/till/internal'
import { createPathTree, type PaidEntry, type PathMatch, paidEntryOf, representationsOf } from '@assay/till/selling'
import { findRouteFaults } from './check-routes.ts'
import { type MadeHop, madeHopOf, type NextHop, nextHopOf } from './next-hop.ts'
import type { RouteDeclaration } from './route.ts'

/** A declaration with what is derived from it once, at start. */
export type RegisteredRoute = {
  declaration: RouteDeclaration
  representations: readonly string[]
  nextHop: NextHop
  /** Where an answer that made something leads to. */
  madeHop?: MadeHop
  /** Present for paid routes only. */
  paid: PaidEntry | undefined
}

export type RouteMatch =
  | { kind: 'unknown_path' }
  /** `known`: a route of this path, under another method. */
  | { kind: 'unknown_method'; allow: string; known: RegisteredRoute | undefined }
  | { kind: 'preflight'; allow: string; known: RegisteredRoute | undefined }
  /** `headOnly`: the answer to HEAD of a GET route. */
  | { kind: 'route'; route: RegisteredRoute; params: Record<string, string>; next: string; headOnly: boolean }

export type Registry = {
  routes: readonly RegisteredRoute[]
  match(method: string, path: string): RouteMatch
  /** Undefined where no paid route has this id. */
  paid(id: string): PaidRoute | undefined
}

export class RouteDeclarationError extends Error {
  readonly faults: readonly string[]
  constructor(faults: readonly string[]) {
    super(`Route declarations are not valid:\n- ${faults.join('\n- ')}`)
    this.name = 'RouteDeclarationError'
    this.faults = faults
  }
}

/**
 * `discoveryBlock` makes the Bazaar part of a paid route's 402; the till itself knows nothing of discovery. `trustExamples`
 * leaves examples unchecked: a start would make every schema of every route for it.
 */
export function createRegistry(
  declarations: readonly RouteDeclaration[],
  discoveryBlock?: (route: RouteDeclaration) => Json | undefined,
  trustExamples = false,
): Registry {
  const faults = findRouteFaults(declarations, trustExamples)
  if (faults.length > 0) throw new RouteDeclarationError(faults)
  const tree = createPathTree<RegisteredRoute>()
  const routes = declarations.map((declaration): RegisteredRoute => {
    const madeHop = madeHopOf(declaration.next, declarations)
    const registered = register(declaration, discoveryBlock)
    if (madeHop === undefined) return registered
    // The example itself leads nowhere, nor does a route of a shop that is not open.
    const before = declarations.some(({ path }) => path === declaration.nextBefore) ? declaration.nextBefore : undefined
    return { ...registered, madeHop, nextHop: () => before ?? '/' }
  })
  for (const route of routes) tree.add(route.declaration.path, route.declaration.method, route)
  const paid = new Map(routes.map((route) => [route.declaration.id, route.paid?.route]))
  return {
    routes,
    paid: (id) => paid.get(id),
    match: (method, path) => {
      const found = tree.find(path)
      if (!found) return { kind: 'unknown_path' }
      const exact = found.values.get(method)
      if (exact) return asMatch(exact, found, false)
      const allow = allowOf(found.values)
      const [known] = found.values.values()
      if (method === 'OPTIONS') return { kind: 'preflight', allow, known }
      const get = method === 'HEAD' ? found.values.get('GET') : undefined
      return get ? asMatch(get, found, true) : { kind: 'unknown_method', allow, known }
    },
  }
}

function asMatch(route: RegisteredRoute, { params, raw }: PathMatch<RegisteredRoute>, headOnly: boolean): RouteMatch {
  return { kind: 'route', route, params, next: route.nextHop(raw), headOnly }
}

function allowOf(values: ReadonlyMap<string, RegisteredRoute>): string {
  const methods = [...values.keys()]
  return [...methods, ...(values.has('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ')
}

function register(
  declaration: RouteDeclaration,
  discoveryBlock: ((route: RouteDeclaration) => Json | undefined) | undefined,
): RegisteredRoute {
  const { access } = declaration
  return {
    declaration,
    representations: representationsOf(declaration),
    nextHop: nextHopOf(declaration),
    paid: access.kind === 'free' ? undefined : paidEntryOf(declaration, access, discoveryBlock?.(declaration)),
  }
}
