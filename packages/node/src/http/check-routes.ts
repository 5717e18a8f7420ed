import { createPathTree, findDeclarationFaults, findExampleFaults, paramNames } from '@assay/till/selling'
import type { RouteDeclaration } from './route.ts'

/** Everything wrong with a set of declarations, so that one start reports all of it. */
export function findRouteFaults(routes: readonly RouteDeclaration[], trustExamples = false): string[] {
  return [
    ...findDeclarationFaults(routes),
    ...(trustExamples ? [] : routes.flatMap(findExampleFaults)),
    ...routes.flatMap(findOwnFaults),
    ...findLostNextHops(routes),
  ]
}

function findOwnFaults({ id, method, path, access, cacheSeconds, example, operator }: RouteDeclaration): string[] {
  const faults: string[] = []
  if (path.startsWith('/v1/operator/') !== (operator !== undefined))
    faults.push(`${id}: a route below /v1/operator/ names the role that it needs, and no other route does`)
  if (cacheSeconds !== undefined && (access.kind !== 'free' || method !== 'GET'))
    faults.push(`${id}: only free GET routes may be shared from the cache`)
  for (const name of paramNames(path))
    if (example.params?.[name] === undefined) faults.push(`${id}: the example lacks the path parameter ${name}`)
  return faults
}

function findLostNextHops(routes: readonly RouteDeclaration[]): string[] {
  const tree = createPathTree<true>()
  for (const route of routes) tree.add(route.path, route.method, true)
  return routes.flatMap((route) => {
    const own = new Set(paramNames(route.path))
    const unknown = paramNames(route.next).filter((name) => !own.has(name))
    if (unknown.length > 0) return [`${route.id}: the next hop names the unknown parameter ${unknown.join(', ')}`]
    const target = route.next.replace(/:[^/]+/g, 'x')
    return target === '/' || tree.find(target) ? [] : [`${route.id}: the next hop ${route.next} is no route`]
  })
}
