import { formatUsd } from '@assay/protocol/money'
import type { RouteDeclaration } from './route.ts'

/** The names every document uses, set once. */
export type Site = {
  baseUrl: string
  apiUrl: string
  serviceName: string
  contactEmail: string
  contentLicense: string
}

export const serviceVersion = '1.0.0'

export const areaNames: Record<RouteDeclaration['area'], string> = {
  A: 'Token control',
  B: 'Equity squeeze feed',
  C: 'Citations and mesh',
  core: 'Node',
}

export function originOf(site: Site, route: RouteDeclaration): string {
  return new URL(route.area === 'C' ? site.apiUrl : site.baseUrl).origin
}

/** `/v1/report/:address` as `/v1/report/{address}`. */
export function templateOf(route: RouteDeclaration): string {
  return route.path.replace(/:([^/]+)/g, '{$1}')
}

/** A URL that can be asked as it is: the example's parameters filled in, so that a probe of it gets its 402. */
export function exampleUrl(site: Site, route: RouteDeclaration): string {
  const path = route.path.replace(/:([^/]+)/g, (_, name: string) =>
    encodeURIComponent(route.example.params?.[name] ?? name).replaceAll('%3A', ':'),
  )
  const query = new URLSearchParams(route.example.query).toString()
  return `${originOf(site, route)}${path}${query === '' ? '' : `?${query}`}`
}

export type PriceRange = { lowestUsd: string; highestUsd: string; fixed: boolean }

export function priceOf(route: RouteDeclaration): PriceRange | undefined {
  if (route.access.kind === 'free') return undefined
  const { price } = route.access
  return price.kind === 'fixed'
    ? { lowestUsd: formatUsd(price.micro), highestUsd: formatUsd(price.micro), fixed: true }
    : { lowestUsd: formatUsd(price.lowestMicro), highestUsd: formatUsd(price.highestMicro), fixed: false }
}

/** For people: "0.02 USD", "50 to 120 USD", "free". */
export function priceText(route: RouteDeclaration): string {
  const price = priceOf(route)
  if (!price) return 'free'
  return price.fixed ? `${price.lowestUsd} USD` : `${price.lowestUsd} to ${price.highestUsd} USD`
}
