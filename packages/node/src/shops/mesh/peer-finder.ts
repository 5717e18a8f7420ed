import { fitsTemplate, isParameter } from '@assay/protocol/mesh/path-template'
import type { MeshStatement } from '@assay/protocol/mesh/read-statement'
import { nameOf } from './check-prices.ts'
import type { MeshView } from './mesh-view.ts'

type Place = { segments: readonly string[]; origin: string; priceMicro: bigint; seen: boolean; health: number }

/** Finds the cheapest healthy peer that answers a path which this node does not. No I/O: it is asked while answering. */
export type FindPeer = (method: string, path: string) => string | undefined

export function createPeerFinder(latest: () => MeshView | undefined): FindPeer {
  let indexed: MeshView | undefined
  let places = new Map<string, Place[]>()
  return (method, path) => {
    const view = latest()
    if (view === undefined) return undefined
    if (view !== indexed) {
      indexed = view
      places = indexOf(view)
    }
    const segments = path.split('/')
    const fitting = (places.get(keyOf(method, segments)) ?? []).filter((place) =>
      fitsTemplate(place.segments, segments),
    )
    const [best] = fitting.sort(byPrice)
    return best === undefined ? undefined : `${best.origin}${path.replace(/[<>"]/g, encodeURIComponent)}`
  }
}

const keyOf = (method: string, segments: readonly string[]) => `${method} ${segments.length} ${segments[1]}`

function indexOf(view: MeshView): Map<string, Place[]> {
  const places = new Map<string, Place[]>()
  for (const peer of view.peers) {
    if (!peer.recommended) continue
    for (const offer of peer.content.offers) {
      const segments = offer.path.split('/')
      if (isBroad(segments)) continue
      const key = keyOf(offer.method, segments)
      const origin = originOf(peer.content, offer.site)
      const asked = peer.askedMicro[nameOf(offer)]
      const priceMicro = BigInt(asked ?? offer.price_micro)
      const place = { segments, origin, priceMicro, seen: asked !== undefined, health: peer.health }
      places.set(key, [...(places.get(key) ?? []), place])
    }
  }
  return places
}

const originOf = ({ address, base_url }: MeshStatement, site: 'base' | undefined) =>
  site === 'base' ? base_url : address

/** A template that fits nearly anything would claim paths that the peer cannot answer: it must say more than it leaves open. */
function isBroad(segments: readonly string[]): boolean {
  const open = segments.filter((part) => isParameter(part)).length
  const said = segments.filter((part) => part !== '' && !isParameter(part) && !/^v\d+$/.test(part)).length
  return open > said || isParameter(segments[1] ?? '')
}

/** What its own 402 asked counts before what a statement says. */
function byPrice(a: Place, b: Place): number {
  if (a.seen !== b.seen) return a.seen ? -1 : 1
  if (a.priceMicro !== b.priceMicro) return a.priceMicro < b.priceMicro ? -1 : 1
  return b.health - a.health
}
