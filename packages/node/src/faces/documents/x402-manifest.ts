import { type Address, checksumAddress } from '@assay/protocol/address'
import { didWeb } from '@assay/protocol/did'
import type { Network } from '@assay/till/chain/network'
import { exampleUrl, fieldsOf, legacyManifest, paidRoutes, templateOf } from '@assay/till/documents'
import { exactRequirements, maxTimeoutSeconds, type Payees, payeeAddress } from '@assay/till/internal'
import { type Keyring, keysForIndex } from '@assay/till/signing'
import { availabilityOf, type RouteDeclaration, royaltyBps } from '../../http/index.ts'
import { type NodeSite, serviceVersion } from '../../http/node-site.ts'

/** What the root manifest says of the node itself, beside its routes. */
export type NodeFacts = {
  facilitator: { kind: string; url?: string }
  royaltyRecipient: Address
  payees: Payees
}

export type ManifestParts = {
  site: NodeSite
  routes: readonly RouteDeclaration[]
  networks: readonly Network[]
  keyring: Keyring
  facts: NodeFacts
}

/** The URLs of the routes that declare their place in the manifest, by its sections. */
function namedPlaces(routes: readonly RouteDeclaration[], origins: { base: string; address: string }) {
  const sections = new Map<string, Record<string, string>>()
  for (const { manifestPlaces = [], area, path } of routes)
    for (const place of manifestPlaces) {
      const [section = '', name = ''] = place.split('.')
      const url = `${area === 'C' ? origins.address : origins.base}${path}`
      sections.set(section, { ...sections.get(section), [name]: url })
    }
  return sections
}

/** The root manifest without its offers: the older form, which its readers find unchanged, and all that a node of the mesh tells. */
export function manifestHead({ site, routes, networks, keyring, facts }: ManifestParts) {
  const address = new URL(site.apiUrl).origin
  const base = new URL(site.baseUrl).origin
  const named = namedPlaces(routes, { base, address })
  return {
    ...legacyManifest(site, routes),
    x402Version: 2,
    mesh: { protocol: '1.0.4', ...named.get('mesh') },
    node: {
      did: didWeb(new URL(site.apiUrl).host),
      address,
      base_url: base,
      name: site.serviceName,
      version: serviceVersion,
      contact: site.contactEmail,
      keys: keysForIndex(keyring),
    },
    networks: networks.map(({ caip2, name, testnet, usdc }) => ({
      network: caip2,
      name,
      testnet,
      assets: [
        {
          asset: checksumAddress(usdc.address),
          symbol: 'USDC',
          decimals: 6,
          name: usdc.name,
          version: usdc.version,
          transfer: 'eip3009',
        },
      ],
    })),
    facilitator: facts.facilitator,
    royalty: {
      recipient: checksumAddress(facts.royaltyRecipient),
      bps: royaltyBps,
      license: site.contentLicense,
      license_url: `${base}/license`,
    },
    links: {
      index: `${base}/`,
      openapi: `${base}/openapi.json`,
      llms: `${base}/llms.txt`,
      api_catalog: `${base}/.well-known/api-catalog`,
      errors: `${base}/errors`,
      keys: `${address}/.well-known/http-message-signatures-directory`,
      did_document: `${address}/.well-known/did.json`,
      draft_manifest: `${base}/.well-known/x402.json`,
      ...named.get('links'),
    },
  }
}

export type DraftParts = Pick<ManifestParts, 'site' | 'routes' | 'networks' | 'facts'> & { updatedAt: string }

/** The shape of the draft for `/.well-known/x402.json` (x402 pull request 2646): one item for each paid resource. */
export function draftManifest({ site, routes, networks, facts, updatedAt }: DraftParts) {
  return {
    x402Version: 2,
    lastUpdated: updatedAt,
    items: paidRoutes(routes).map((route) => draftItem(site, route, networks, facts)),
  }
}

function draftItem(site: NodeSite, route: RouteDeclaration, networks: readonly Network[], facts: NodeFacts) {
  const { access } = route
  if (access.kind !== 'paid') throw new Error(`${route.id} is free`)
  const amountMicro = access.price.kind === 'fixed' ? access.price.micro : access.price.lowestMicro
  const names = (schema: RouteDeclaration['query']) => fieldsOf(schema).map((field) => field.name)
  return {
    resource: {
      url: exampleUrl(site, route),
      description: route.description ?? route.summary,
      mimeType: route.representations?.[0] ?? 'application/json',
      serviceName: site.serviceName,
    },
    type: 'http',
    accepts: access.networks.flatMap((caip2) => {
      const network = networks.find((known) => known.caip2 === caip2)
      if (network === undefined) return []
      const payTo = payeeAddress(facts.payees, access.payee, caip2)
      return [exactRequirements({ network, asset: network.usdc.address, payTo, amountMicro, maxTimeoutSeconds })]
    }),
    input: {
      method: route.method,
      ...(route.path.includes(':') ? { routeTemplate: route.path } : {}),
      ...(route.params === undefined ? {} : { pathParams: names(route.params) }),
      ...(route.query === undefined ? {} : { queryParams: names(route.query) }),
      ...(route.body === undefined ? {} : { bodyType: 'json', bodyFields: names(route.body) }),
    },
    output: { type: 'json', example: route.example.output },
    ...(availabilityOf(route) === undefined ? {} : { notAvailable: availabilityOf(route) }),
    requires: [] as string[],
    path: templateOf(route),
  }
}

/** Where somebody who has read the manifest goes on: the cheapest thing to buy that is no test purchase. */
export function firstPurchase(routes: readonly RouteDeclaration[]): string {
  const cost = ({ access }: RouteDeclaration) =>
    access.kind === 'free' ? 0n : access.price.kind === 'fixed' ? access.price.micro : access.price.lowestMicro
  // A path with parameters cannot be requested unchanged, and what costs as much as one likes is no example.
  const plain = paidRoutes(routes).filter(
    ({ path, access }) => !path.includes(':') && access.kind === 'paid' && access.price.kind === 'fixed',
  )
  const products = plain.filter(({ testPurchase }) => !testPurchase)
  const byPrice = (a: RouteDeclaration, b: RouteDeclaration) => (cost(a) < cost(b) ? -1 : cost(a) > cost(b) ? 1 : 0)
  return ([...products].sort(byPrice)[0] ?? plain[0])?.path ?? '/'
}
