import { shownRoutes } from '@assay/till/documents'
import type { RouteDeclaration } from '../../http/index.ts'
import { offerOf } from './offers.ts'
import { type ManifestParts, manifestHead } from './x402-manifest.ts'

/** Readers of manifests stop at 64 kB. */
export const manifestPageBytesMax = 65_535

const manifestPath = '/.well-known/x402'
/** Bytes kept free on a page for what is known last: the number of offers and the address of the next page. */
const roomForNext = 200

/**
 * The manifest in pages: the first has everything about the node, and each has as many offers as fit, what is paid and
 * what buyers use most before the rest.
 */
export function manifestPages(parts: ManifestParts): string[] {
  const { site, routes } = parts
  const address = new URL(site.apiUrl).origin
  const head = manifestHead(parts)
  const { version, x402Version, node } = head
  const further = { version, x402Version, node: { did: node.did, address: node.address } }
  const offers = [...shownRoutes(routes)].sort((a, b) => rank(a) - rank(b)).map((route) => offerOf(site, route))
  const pages: { head: object; offers: object[] }[] = [{ head, offers: [] }]
  let bytes = bytesOf(head)
  for (const offer of offers) {
    const size = bytesOf(offer) + 1
    if (bytes + size + roomForNext > manifestPageBytesMax) {
      pages.push({ head: further, offers: [] })
      bytes = bytesOf(further)
    }
    pages.at(-1)?.offers.push(offer)
    bytes += size
  }
  const nextOf = (page: number) => (page < pages.length ? `${address}${manifestPath}?page=${page + 1}` : null)
  return pages.map((page, index) =>
    JSON.stringify({
      ...page.head,
      page: index + 1,
      pages: pages.length,
      next_page: nextOf(index + 1),
      offers: page.offers,
    }),
  )
}

const rank = ({ access, main }: RouteDeclaration) => (access.kind === 'paid' ? 0 : main ? 1 : 2)
const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value))
