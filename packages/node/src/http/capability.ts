import type { RouteDeclaration } from './route.ts'

/** What a route can do, under a name that nodes share. Two methods of one path do the same thing. */
export function capabilityOf(route: Pick<RouteDeclaration, 'id' | 'capability'>): string {
  return route.capability ?? route.id
}
