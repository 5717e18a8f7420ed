import { exampleUrl, type JsonSchema, jsonSchemaOf, originOf, priceOf, templateOf } from '@assay/till/documents'
import { capabilityOf } from '../../http/capability.ts'
import { type Availability, availabilityOf, type RouteDeclaration } from '../../http/index.ts'
import type { NodeSite } from '../../http/node-site.ts'

/** One resource of the node's manifest: what it does, what it costs, what goes in and what comes out. */
export function offerOf(site: NodeSite, route: RouteDeclaration) {
  const { access } = route
  const price = priceOf(route)
  const url = `${originOf(site, route)}${templateOf(route)}`
  return {
    capability: capabilityOf(route),
    id: route.id,
    method: route.method,
    url,
    example: exampleUrl(site, route),
    summary: route.summary,
    access: access.kind,
    ...notForSale(route),
    price_micro: lowestMicro(route).toString(),
    price_usd: price?.lowestUsd ?? '0',
    ...(price === undefined || price.fixed ? {} : { price_usd_max: price.highestUsd }),
    networks: access.kind === 'paid' ? access.networks : [],
    ...(access.kind === 'free' && access.security ? { proof: access.security } : {}),
    media_types: route.representations ?? ['application/json'],
    next: route.next.replace(/:([^/]+)/g, '{$1}'),
    input: {
      ...part('path', route.params),
      ...part('query', route.query),
      ...part('body', route.body),
      ...(route.example.body === undefined ? {} : { example: route.example.body }),
    },
    output: jsonSchemaOf(route.output, 'output'),
  }
}

/** A route keeps its place while it is not for sale, with the reason. */
function notForSale(route: RouteDeclaration): { not_available?: Availability } {
  const reason = availabilityOf(route)
  return reason === undefined ? {} : { not_available: reason }
}

function lowestMicro({ access }: RouteDeclaration): bigint {
  if (access.kind === 'free') return 0n
  return access.price.kind === 'fixed' ? access.price.micro : access.price.lowestMicro
}

function part(name: string, schema: RouteDeclaration['query']): Record<string, JsonSchema> {
  return schema === undefined ? {} : { [name]: jsonSchemaOf(schema, 'input') }
}
