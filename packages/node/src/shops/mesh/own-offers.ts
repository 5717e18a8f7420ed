import { createHash } from 'node:crypto'
import { canonicalJson, type Json } from '@assay/protocol/canonical-json'
import { type MeshOffer, offersMax } from '@assay/protocol/mesh/read-statement'
import { exampleUrl, jsonSchemaOf, originOf, templateOf } from '@assay/till/documents'
import type { RouteDeclaration } from '../../http/index.ts'
import { capabilityOf, type NodeSite } from '../../http/index.ts'

// Documents about the node itself: every node has them, so nobody has to look for them.
const notOffered = /^(?:discovery|ops|errors|facilitator|auth|payments|mesh|log)\./

/** In base64url, with the rest of the statement, what peers still take. */
const offersCharsMax = 16_500

/** What this node tells its peers that it offers: the paid routes first, then the free ones, as many as fit. */
export function ownOffers(site: NodeSite, routes: readonly RouteDeclaration[]): MeshOffer[] {
  const shown = routes.filter((route) => !route.hidden && !notOffered.test(route.id))
  const paid = shown.filter((route) => route.access.kind === 'paid')
  const free = shown.filter((route) => route.access.kind === 'free')
  let chars = 0
  return [...paid, ...free]
    .slice(0, offersMax)
    .map((route) => offerOf(site, route))
    .filter((offer) => {
      chars += JSON.stringify(offer).length + 1
      return chars <= offersCharsMax
    })
}

function offerOf(site: NodeSite, route: RouteDeclaration): MeshOffer {
  const path = templateOf(route)
  const origin = originOf(site, route)
  const example = exampleUrl(site, route).slice(origin.length)
  const { access } = route
  const common = {
    capability: capabilityOf(route),
    method: route.method,
    path,
    ...(example === path ? {} : { example }),
    ...(origin === new URL(site.apiUrl).origin ? {} : { site: 'base' as const }),
  }
  if (access.kind === 'free') return { ...common, price_micro: '0' }
  const { price, networks } = access
  return {
    ...common,
    price_micro: (price.kind === 'fixed' ? price.micro : price.lowestMicro).toString(),
    ...(price.kind === 'fixed' ? {} : { price_micro_max: price.highestMicro.toString() }),
    // Other nodes compare prices in USDC.
    networks: networks.filter((network) => !network.includes('/')),
    schema: schemaHash(route),
  }
}

/** Two nodes whose schemas have the same hash can be called alike. Texts for people may differ. */
function schemaHash({ params, query, body, output }: RouteDeclaration): string {
  const shape = (schema: RouteDeclaration['body'], direction: 'input' | 'output') =>
    schema === undefined ? null : withoutTexts(jsonSchemaOf(schema, direction) as Json)
  const input = { params: shape(params, 'input'), query: shape(query, 'input'), body: shape(body, 'input') }
  const text = canonicalJson({ input, output: shape(output, 'output') })
  return createHash('sha256').update(text).digest('base64url')
}

const texts = new Set(['description', 'title', 'examples'])

function withoutTexts(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutTexts)
  if (typeof value !== 'object' || value === null) return value
  const kept = Object.entries(value).flatMap(([name, member]): [string, Json][] => {
    // In `properties` these are names like any other.
    if (member === undefined || (texts.has(name) && typeof member !== 'object')) return []
    return [[name, withoutTexts(member)]]
  })
  return Object.fromEntries(kept)
}
