import { checksumAddress } from '@assay/protocol/address'
import type { Network } from '@assay/till/chain/network'
import { originOf, priceOf, templateOf } from '@assay/till/documents'
import { availabilityOf, type RouteDeclaration } from '../../http/index.ts'
import { type NodeSite, serviceVersion } from '../../http/node-site.ts'

export type IndexParts = {
  site: NodeSite
  routes: readonly RouteDeclaration[]
  networks: readonly Network[]
  keys: unknown
  /** Demo mode only. */
  demo: unknown
}

/** What `GET /` says: what is sold, at what price, on which networks, and where keys and documents are. */
export function serviceIndex({ site, routes, networks, keys, demo }: IndexParts) {
  const shown = routes.filter((route) => !route.hidden)
  return {
    service: site.serviceName,
    version: serviceVersion,
    description: 'Verified, signed answers, paid per call in USDC with x402.',
    base_url: new URL(site.baseUrl).origin,
    api_url: new URL(site.apiUrl).origin,
    x402_version: 2,
    networks: networks.map(({ caip2, name, testnet, usdc }) => ({
      network: caip2,
      name,
      testnet,
      // The ids are those of real chains; the chains of a demo node are its own.
      ...(demo === undefined ? {} : { demo: true }),
      asset: checksumAddress(usdc.address),
      asset_name: usdc.name,
      asset_version: usdc.version,
    })),
    sold: shown.filter((route) => route.access.kind === 'paid').map((route) => soldItem(site, route)),
    free: shown
      .filter((route) => route.access.kind === 'free')
      .map((route) => ({ method: route.method, path: templateOf(route), summary: route.summary })),
    keys,
    documents: {
      openapi: '/openapi.json',
      openapi_full: '/openapi/full.json',
      llms: '/llms.txt',
      reference: '/reference',
      errors: '/errors',
      license: '/license',
      api_catalog: '/.well-known/api-catalog',
      x402: '/.well-known/x402',
    },
    contact: site.contactEmail,
    ...(demo === undefined ? {} : { demo }),
  }
}

function soldItem(site: NodeSite, route: RouteDeclaration) {
  const price = priceOf(route)
  const reason = availabilityOf(route)
  return {
    id: route.id,
    method: route.method,
    path: templateOf(route),
    url: `${originOf(site, route)}${templateOf(route)}`,
    summary: route.summary,
    price_usd: price?.lowestUsd,
    ...(price?.fixed ? {} : { price_usd_max: price?.highestUsd }),
    networks: route.access.kind === 'paid' ? route.access.networks : [],
    ...(reason === undefined ? {} : { not_available: reason }),
  }
}
