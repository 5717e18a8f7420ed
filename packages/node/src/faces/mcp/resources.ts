import { exampleUrl, originOf, priceText, templateOf } from '@assay/till/documents'
import type { RouteDeclaration } from '../../http/index.ts'
import type { NodeSite } from '../../http/node-site.ts'

export type ListedResource = { uri: string; name: string; description: string; mimeType: string }
export type ResourceTemplate = { uriTemplate: string; name: string; description: string; mimeType: string }

/** What can be read by its address: checks, reports and snapshots, and the texts that explain this node. */
const isResource = ({ mcp }: RouteDeclaration) => mcp === 'resource' || mcp === 'both'

export const mimeTypeOf = (route: RouteDeclaration) => route.representations?.[0] ?? 'application/json'

/** Addresses that are complete without parameters. */
export function listResources(site: NodeSite, routes: readonly RouteDeclaration[]): ListedResource[] {
  return routes
    .filter((route) => isResource(route) && !route.path.includes(':'))
    .map((route) => ({
      uri: `${originOf(site, route)}${route.path}`,
      name: route.id,
      description: `${route.summary} (${priceText(route)})`,
      mimeType: mimeTypeOf(route),
    }))
}

export function listTemplates(site: NodeSite, routes: readonly RouteDeclaration[]): ResourceTemplate[] {
  return routes
    .filter((route) => isResource(route) && route.path.includes(':'))
    .map((route) => ({
      uriTemplate: `${originOf(site, route)}${templateOf(route)}`,
      name: route.id,
      description: `${route.summary} (${priceText(route)}), for example ${exampleUrl(site, route)}`,
      mimeType: mimeTypeOf(route),
    }))
}

/** The readable route behind an address, if it is one of ours. */
export function routeOfUri(
  site: NodeSite,
  routes: readonly RouteDeclaration[],
  uri: string,
): { route: RouteDeclaration; target: string } | undefined {
  const url = URL.canParse(uri) ? new URL(uri) : undefined
  if (!url) return undefined
  const segments = url.pathname.split('/')
  const route = routes.find((one) => {
    if (one.method !== 'GET' || !isResource(one)) return false
    if (originOf(site, one) !== url.origin) return false
    const pattern = one.path.split('/')
    return (
      pattern.length === segments.length && pattern.every((part, n) => part.startsWith(':') || part === segments[n])
    )
  })
  return route ? { route, target: `${url.pathname}${url.search}` } : undefined
}
