import { type MeshOffer, offersMax } from '@assay/protocol/mesh/read-statement'
import { exampleUrl, originOf, templateOf } from '@assay/till/documents'
import type { RouteDeclaration } from '../../http/index.ts'
import { capabilityOf, type NodeSite } from '../../http/index.ts'

// Documents about the node itself: every node has them, so nobody has to look for them.
const notOffered = /^(?:discovery|ops|errors|facilitator|auth|payments|mesh|log)\./

/** What this node tells its peers that it offers: the paid routes first, then the free ones, as many as fit. */
export function ownOffers(site: NodeSite, routes: readonly RouteDeclaration[]): MeshOffer[] {
  const shown = routes.filter((route) => !route.hidden && !notOffered.test(route.id))
  const paid = shown.filter((route) => route.access.kind === 'paid')
  const free = shown.filter((route) => route.access.kind === 'free')
  return [...paid, ...free].slice(0, offersMax).map((route) => offerOf(site, route))
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
    networks: [...networks],
  }
}
