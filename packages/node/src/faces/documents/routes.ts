import type { Network } from '@assay/till/chain/network'
import { fullDocumentPath, legacyManifest, llmsTxt, openapiDocument } from '@assay/till/documents'
import { type Clock, toRfc3339 } from '@assay/till/kernel/clock'
import { Problem } from '@assay/till/kernel/problem'
import { availabilityOf } from '@assay/till/selling'
import {
  createJwsSigner,
  didDocument,
  type Keyring,
  keyDirectory,
  keyDirectoryMediaType,
  keyDirectoryPath,
  keysForIndex,
} from '@assay/till/signing'
import { z } from 'zod'
import { documentRoute } from '../../http/document-route.ts'
import type { RouteDeclaration } from '../../http/index.ts'
import { nodeServices } from '../../http/node-services.ts'
import { type NodeSite, serviceVersion } from '../../http/node-site.ts'
import { agentCard } from './agent-card.ts'
import { apiCatalog } from './catalogs.ts'
import { iconSvg } from './icon.ts'
import { licenseText } from './license-text.ts'
import { manifestPages } from './manifest-pages.ts'
import { serviceIndex } from './service-index.ts'
import { draftManifest, firstPurchase, type NodeFacts } from './x402-manifest.ts'

export type DiscoveryDeps = {
  site: NodeSite
  /** What the documents describe: all routes of the node. */
  routes: readonly RouteDeclaration[]
  networks: readonly Network[]
  keyring: Keyring
  clock: Clock
  /** With it the manifest tells of the node itself, and not of its paid routes alone. */
  facts?: NodeFacts
  /** The `demo` object of the index, in demo mode only. */
  demo?: () => unknown
  /** What is shown in place of a word of an example, in demo mode only. */
  examples?: Readonly<Record<string, string>>
  /** What a browser gets at `/`, where there is a console. */
  page?: () => Promise<{ body: string; headers: Record<string, string> }>
}

const json = ['application/json'] as const
const openapiTypes = ['application/json', 'application/openapi+json', 'application/vnd.oai.openapi+json'] as const
const text = ['text/plain; charset=utf-8'] as const
const svg = ['image/svg+xml'] as const

/** Documents derived from the registry, and from nothing else. */
export function discoveryRoutes(deps: DiscoveryDeps): RouteDeclaration[] {
  const { site, examples = {} } = deps
  const shown = (text: string) =>
    Object.entries(examples).reduce((all, [word, real]) => all.replaceAll(word, real), text)
  return [
    indexRoute(deps),
    documentRoute({
      id: 'discovery.openapi',
      mcp: 'resource',
      path: '/openapi.json',
      summary: 'OpenAPI 3.1 of what buyers use, with prices, schemas and examples; it leads to the rest',
      mediaTypes: openapiTypes,
      exampleOutput: { openapi: '3.1.0' },
      write: asSold(deps, () => shown(JSON.stringify(openapiDocument(site, deps.routes, 'main')))),
    }),
    documentRoute({
      id: 'discovery.openapi_full',
      path: fullDocumentPath,
      summary: 'OpenAPI 3.1 of every route in one document, for generators',
      mediaTypes: openapiTypes,
      next: '/openapi.json',
      exampleOutput: { openapi: '3.1.0' },
      write: asSold(deps, () => shown(JSON.stringify(openapiDocument(site, deps.routes)))),
    }),
    documentRoute({
      id: 'discovery.llms',
      mcp: 'resource',
      path: '/llms.txt',
      summary: 'The service as text for language models: routes, prices, how to pay',
      mediaTypes: text,
      exampleOutput: `# ${site.serviceName}`,
      write: asSold(deps, () => shown(llmsTxt(site, deps.routes))),
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
    ...manifestRoutes(deps),
    ...keyRoutes(deps),
    documentRoute({
      id: 'discovery.license',
      mcp: 'resource',
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

function manifestRoutes(deps: DiscoveryDeps): RouteDeclaration[] {
  const { site, keyring, networks, facts, clock } = deps
  const pages = asSold(deps, () =>
    facts ? manifestPages({ site, routes: deps.routes, networks, keyring, facts }) : [],
  )
  const root = documentRoute({
    id: 'discovery.x402',
    mcp: 'resource',
    main: true,
    path: '/.well-known/x402',
    royalty: true,
    summary: 'Root manifest of this node: keys, networks, every resource with price and schemas in pages, the mesh',
    mediaTypes: json,
    next: firstPurchase(deps.routes),
    exampleOutput: { version: 1, resources: [] },
    ...(facts === undefined
      ? {}
      : {
          query: z.strictObject({
            page: z
              .string()
              .regex(/^[1-9][0-9]{0,2}$/)
              .optional(),
          }),
        }),
    write: facts
      ? (_authority, { page = '1' }) => pageOf(pages(), Number(page))
      : once(() => JSON.stringify(legacyManifest(site, deps.routes))),
  })
  if (facts === undefined) return [root]
  const draft = documentRoute({
    id: 'discovery.x402_draft',
    path: '/.well-known/x402.json',
    summary: 'Paid resources in the shape of the draft for well-known discovery',
    mediaTypes: json,
    next: '/.well-known/x402',
    exampleOutput: { x402Version: 2, lastUpdated: '2026-01-01T00:00:00.000Z', items: [] },
    write: asSold(deps, () =>
      JSON.stringify(
        draftManifest({ site, routes: deps.routes, networks, facts, updatedAt: toRfc3339(clock.nowMs()) }),
      ),
    ),
  })
  return [root, draft]
}

function pageOf(pages: readonly string[], page: number): string {
  const text = pages[page - 1]
  if (text === undefined) throw new Problem('not_found', { detail: `The manifest has ${pages.length} pages.` })
  return text
}

function indexRoute(deps: DiscoveryDeps): RouteDeclaration {
  const { site, keyring, networks, page } = deps
  return documentRoute({
    id: 'discovery.index',
    mcp: 'none',
    main: true,
    path: '/',
    summary: 'What this node sells, at what price, on which networks, and where everything is',
    mediaTypes: json,
    next: '/openapi.json',
    headers: {
      ...(page === undefined ? {} : { Vary: 'Accept' }),
      Link: '</openapi.json>; rel="service-desc", </llms.txt>; rel="service-doc", </.well-known/api-catalog>; rel="api-catalog", </license>; rel="license"',
    },
    exampleOutput: { service: site.serviceName, version: serviceVersion },
    ...(page === undefined ? {} : { page }),
    // Not kept: keys rotate and the demo object may grow.
    write: () =>
      JSON.stringify(
        serviceIndex({ site, networks, routes: deps.routes, keys: keysForIndex(keyring), demo: deps.demo?.() }),
      ),
  })
}

function keyRoutes({ site, keyring, clock, routes }: DiscoveryDeps): RouteDeclaration[] {
  const authority = new URL(site.baseUrl).host
  const jws = createJwsSigner(keyring, { authority, clock })
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
      // Under whichever of its names the node is asked: the document must be about the name that led to it.
      write: (asked) => {
        const document = didDocument(keyring, asked, clock.nowMs())
        return JSON.stringify({ ...document, service: nodeServices(document.id, site.baseUrl) })
      },
    }),
    documentRoute({
      id: 'discovery.agent_card',
      path: '/.well-known/agent-card.json',
      summary: 'The node as an A2A agent card: one skill for each thing it sells',
      mediaTypes: [...json, 'application/a2a+json'],
      next: '/openapi.json',
      exampleOutput: { name: site.serviceName, version: serviceVersion },
      write: asSold({ keyring, routes }, () => JSON.stringify(agentCard(site, routes, (payload) => jws.sign(payload)))),
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

/** Written again when the key in use changes, or what is for sale. */
function asSold<T>({ keyring, routes }: Pick<DiscoveryDeps, 'keyring' | 'routes'>, write: () => T): () => T {
  let written: { state: string; text: T } | undefined
  return () => {
    const state = JSON.stringify([keyring.active().keyId, routes.map((route) => availabilityOf(route) ?? 0)])
    if (written?.state !== state) written = { state, text: write() }
    return written.text
  }
}
