import { formatUsd } from '@assay/protocol/money'
import type { RouteDeclaration } from '../selling/route.ts'
import type { JsonSchema } from './json-schema.ts'

/** A header or parameter that an embedder adds, and the component by which operations refer to it. */
export type CarriedField = { component: string; name: string; description: string; schema?: JsonSchema }

/** The names every document uses, set once. */
export type Site = {
  /** Where all is found that no area places elsewhere. */
  baseUrl: string
  serviceName: string
  version: string
  /** One line, and what a reader should know first. */
  summary: string
  description: string
  contactEmail?: string
  /** Its text is at `/license`. */
  contentLicense?: string
  /** Groups of routes, in the order in which documents list them. */
  areas?: Readonly<Record<string, { name: string; url: string; description?: string }>>
  /** What requests and responses carry beyond payment and signature. */
  carries?: {
    /** Taken by every route. */
    parameters?: readonly (CarriedField & { in: 'query' | 'header' })[]
    /** Headers of every response. */
    headers?: readonly CarriedField[]
    /** Headers that only the answers of some routes have. */
    answerHeaders?: { fields: readonly CarriedField[]; on(route: RouteDeclaration): boolean }
    rateLimit?: true
  }
  /** Ways to sign in, by the name that a route's `security` gives. Default: signed requests alone. */
  signIn?: Readonly<Record<string, JsonSchema>>
  /** Documents beside those that every till has. */
  documents?: readonly { title: string; path: string; what: string }[]
}

export function originOf(site: Site, route: RouteDeclaration): string {
  return new URL(site.areas?.[route.area ?? '']?.url ?? site.baseUrl).origin
}

export const areaNameOf = (site: Site, route: RouteDeclaration): string | undefined =>
  site.areas?.[route.area ?? '']?.name

/** `/v1/report/:address` as `/v1/report/{address}`. */
export function templateOf(route: RouteDeclaration): string {
  return route.path.replace(/:([^/]+)/g, '{$1}')
}

/** A URL that can be asked as it is: the example's parameters filled in, so that a probe of it gets its 402. */
export function exampleUrl(site: Site, route: RouteDeclaration): string {
  const path = route.path.replace(/:([^/]+)/g, (_, name: string) =>
    encodeURIComponent(route.example?.params?.[name] ?? name).replaceAll('%3A', ':'),
  )
  const query = new URLSearchParams(route.example?.query).toString()
  return `${originOf(site, route)}${path}${query === '' ? '' : `?${query}`}`
}

export type PriceRange = { lowestUsd: string; highestUsd: string; fixed: boolean }

export function priceOf(route: RouteDeclaration): PriceRange | undefined {
  if (route.access.kind === 'free') return undefined
  const { price } = route.access
  if (price.kind === 'fixed' && price.metered)
    return { lowestUsd: formatUsd(1n), highestUsd: formatUsd(price.micro), fixed: false }
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
