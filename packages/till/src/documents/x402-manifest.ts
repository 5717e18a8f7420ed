import type { RouteDeclaration } from '../selling/route.ts'
import { exampleUrl, type Site } from './describe-route.ts'

export const shownRoutes = <R extends RouteDeclaration>(routes: readonly R[]): R[] =>
  routes.filter((route) => !route.hidden)
export const paidRoutes = <R extends RouteDeclaration>(routes: readonly R[]): R[] =>
  shownRoutes(routes).filter((route) => route.access.kind === 'paid')

/** The manifest that indexers read: URLs that answer 402 when probed as they are. */
export function legacyManifest(site: Site, routes: readonly RouteDeclaration[]) {
  return { version: 1, resources: [...new Set(paidRoutes(routes).map((route) => exampleUrl(site, route)))] }
}
