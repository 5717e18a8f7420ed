import type { MeshStatement } from '@assay/protocol/mesh/read-statement'
import type { MeshView } from './mesh-view.ts'

type Place = { segments: readonly string[]; origin: string; priceMicro: bigint; health: number }

/** Finds the cheapest healthy peer that answers a path which this node does not. No I/O: it is asked while answering. */
export type Elsewhere = (method: string, path: string) => string | undefined

const template = /^\{[^{}]*\}$/

export function createElsewhere(latest: () => MeshView | undefined): Elsewhere {
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
    const fitting = (places.get(keyOf(method, segments)) ?? []).filter((place) => fits(place.segments, segments))
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
      // A first segment that fits anything would claim every path there is.
      if (template.test(segments[1] ?? '')) continue
      const key = keyOf(offer.method, segments)
      const origin = originOf(peer.content, offer.site)
      const place = { segments, origin, priceMicro: BigInt(offer.price_micro), health: peer.health }
      places.set(key, [...(places.get(key) ?? []), place])
    }
  }
  return places
}

const originOf = ({ address, base_url }: MeshStatement, site: 'base' | undefined) =>
  site === 'base' ? base_url : address

function fits(pattern: readonly string[], segments: readonly string[]): boolean {
  return pattern.every((part, index) => part === segments[index] || (template.test(part) && segments[index] !== ''))
}

function byPrice(a: Place, b: Place): number {
  if (a.priceMicro !== b.priceMicro) return a.priceMicro < b.priceMicro ? -1 : 1
  return b.health - a.health
}
