import type { Network } from '../chain/network.ts'
import type { RouteDeclaration } from '../http/index.ts'
import type { Clock } from '../kernel/clock.ts'
import {
  didDocument,
  type Keyring,
  keyDirectory,
  keyDirectoryMediaType,
  keyDirectoryPath,
  keysForIndex,
} from '../signing/index.ts'
import { apiCatalog, x402Manifest } from './catalogs.ts'
import { type Site, serviceVersion } from './describe-route.ts'
import { documentRoute } from './document-route.ts'
import { iconSvg } from './icon.ts'
import { licenseText } from './license-text.ts'
import { llmsTxt } from './llms-txt.ts'
import { openapiDocument } from './openapi.ts'
import { serviceIndex } from './service-index.ts'

export type DiscoveryDeps = {
  site: Site
  /** All routes of the node, these included; read when a document is first asked for. */
  routes(): readonly RouteDeclaration[]
  networks: readonly Network[]
  keyring: Keyring
  clock: Clock
  /** The `demo` object of the index, in demo mode only. */
  demo?: () => unknown
}

const json = ['application/json'] as const
const text = ['text/plain; charset=utf-8'] as const
const svg = ['image/svg+xml'] as const

/** Documents derived from the registry, and from nothing else. */
export function discoveryRoutes(deps: DiscoveryDeps): RouteDeclaration[] {
  const { site } = deps
  return [
    indexRoute(deps),
    documentRoute({
      id: 'discovery.openapi',
      path: '/openapi.json',
      summary: 'OpenAPI 3.1 of every route, with prices, schemas and examples',
      mediaTypes: ['application/json', 'application/openapi+json', 'application/vnd.oai.openapi+json'],
      exampleOutput: { openapi: '3.1.0' },
      write: once(() => JSON.stringify(openapiDocument(site, deps.routes()))),
    }),
    documentRoute({
      id: 'discovery.llms',
      path: '/llms.txt',
      summary: 'The service as text for language models: routes, prices, how to pay',
      mediaTypes: text,
      exampleOutput: `# ${site.serviceName}`,
      write: once(() => llmsTxt(site, deps.routes())),
    }),
    documentRoute({
      id: 'discovery.api_catalog',
      path: '/.well-known/api-catalog',
      summary: 'Links to the descriptions of this service (RFC 9727)',
      mediaTypes: ['application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"', ...json],
      next: '/openapi.json',
      exampleOutput: apiCatalog(site),
      write: once(() => JSON.stringify(apiCatalog(site))),
    }),
    documentRoute({
      id: 'discovery.x402',
      path: '/.well-known/x402',
      summary: 'Paid resources of this node, each a URL that answers 402',
      mediaTypes: json,
      exampleOutput: { version: 1, resources: [] },
      write: once(() => JSON.stringify(x402Manifest(site, deps.routes()))),
    }),
    ...keyRoutes(deps),
    documentRoute({
      id: 'discovery.license',
      path: '/license',
      summary: 'What may be done with the answers',
      mediaTypes: text,
      exampleOutput: site.contentLicense,
      write: () => licenseText(site.contentLicense),
    }),
    ...['/favicon.ico', '/favicon.svg'].map((path) =>
      documentRoute({
        id: `discovery.${path.slice(1).replace('.', '_')}`,
        path,
        summary: 'Icon of the service',
        mediaTypes: svg,
        hidden: true,
        exampleOutput: '<svg/>',
        write: () => iconSvg,
      }),
    ),
  ]
}

function indexRoute(deps: DiscoveryDeps): RouteDeclaration {
  const { site, keyring, networks } = deps
  return documentRoute({
    id: 'discovery.index',
    path: '/',
    summary: 'What this node sells, at what price, on which networks, and where everything is',
    mediaTypes: json,
    next: '/openapi.json',
    headers: {
      Link: '</openapi.json>; rel="service-desc", </llms.txt>; rel="service-doc", </.well-known/api-catalog>; rel="api-catalog", </license>; rel="license"',
    },
    exampleOutput: { service: site.serviceName, version: serviceVersion },
    // Not kept: keys rotate and the demo object may grow.
    write: () =>
      JSON.stringify(
        serviceIndex({ site, networks, routes: deps.routes(), keys: keysForIndex(keyring), demo: deps.demo?.() }),
      ),
  })
}

function keyRoutes({ site, keyring, clock }: DiscoveryDeps): RouteDeclaration[] {
  const authority = new URL(site.baseUrl).host
  return [
    documentRoute({
      id: 'discovery.keys',
      path: keyDirectoryPath,
      summary: 'The keys that sign responses, with their validity',
      mediaTypes: [keyDirectoryMediaType, ...json],
      exampleOutput: { keys: [] },
      write: () => JSON.stringify(keyDirectory(keyring)),
    }),
    documentRoute({
      id: 'discovery.did',
      path: '/.well-known/did.json',
      summary: 'The node as did:web, with the same keys',
      mediaTypes: [...json, 'application/did+json', 'application/did+ld+json', 'application/did'],
      exampleOutput: { id: `did:web:${authority.replace(':', '%3A')}` },
      write: () => JSON.stringify(didDocument(keyring, authority, clock.nowMs())),
    }),
  ]
}

/** Declarations do not change while the process lives, so their documents are written once. */
function once(write: () => string): () => string {
  let written: string | undefined
  return () => {
    written ??= write()
    return written
  }
}
