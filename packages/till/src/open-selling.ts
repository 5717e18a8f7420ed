import type { Infrastructure, OpenedGate, Ports } from './compose/index.ts'
import type { PaidRoute } from './contract/paid-call.ts'
import type { Scheme } from './contract/scheme.ts'
import { bazaarExtension, type Site, tillDocuments } from './documents/index.ts'
import { tillPaths } from './documents/till-documents.ts'
import type { Clock } from './kernel/clock.ts'
import { ConfigError } from './kernel/config-error.ts'
import { Problem } from './kernel/problem.ts'
import type { RequestProofDeps } from './proofs/proof-deps.ts'
import {
  type AnswerDeps,
  answerRequest,
  createPathTree,
  createRequestIds,
  createResponder,
  createSharedChallenges,
  createTimeLimit,
  declareSale,
  findDeclarationFaults,
  findExampleFaults,
  fromWebRequest,
  type OpenRoute,
  type PlainResponse,
  paidEntryOf,
  type RouteDeclaration,
  representationsOf,
  resourcePathOf,
  type SoldRequest,
  targetOf,
  toWebResponse,
} from './selling/index.ts'
import { createResponseSigner } from './signing/index.ts'
import { claimNonce } from './store/nonce-claims.ts'
import { createProbes, probeAnswer, testSelf } from './test-self.ts'
import type { SoldRoute, Till, WebCall } from './till.ts'
import type { TillOptions, TillSettings } from './till-options.ts'

const exposed =
  'PAYMENT-REQUIRED, PAYMENT-RESPONSE, WWW-Authenticate, Payment-Receipt, Signature, Signature-Input, Content-Digest, Retry-After, Link'

type Selling = Pick<Till, 'sell' | 'match' | 'fetch' | 'sold' | 'documents' | 'selfTest'>

/** Where the pages of problems are: below the till's own paths. */
export const docsOriginOf = ({ origin }: TillSettings): string =>
  `${origin}${tillPaths.errors.slice(0, -'/errors'.length)}`

/** What routes are opened with. */
export type SellingParts = {
  settings: TillSettings
  options: TillOptions
  ports: Ports
  infrastructure: Infrastructure
  /** Filled with every paid route, by id. */
  paidRoutes: Map<string, PaidRoute>
}

/** The routes of a till: declared one by one, found by path, answered through the gate. */
export function openSelling(parts: SellingParts, gate: OpenedGate): Selling & { drain(): Promise<void> } {
  const { settings, options, ports, infrastructure, paidRoutes } = parts
  const probes = createProbes(ports.rng)
  const traffic = createTraffic()
  const deps = answerDeps(parts, gate)
  const { responder } = deps
  const routes = createRoutes(paidRoutes, (route, request) => {
    if (route.paid && probes.has(request)) return answerProbe(responder, settings, route, request)
    return traffic.run(
      () => answerRequest(deps, route, request),
      () => refuseClosed(responder, settings, request),
    )
  })
  const sold: SoldRoute[] = []
  const declarations = () => sold.map(({ declaration }) => declaration)
  const documents = tillDocuments({
    ...{ site: siteOf(settings, options), sql: infrastructure.store.database, keyring: infrastructure.keyring },
    proofs: proofsOn(infrastructure, ports.clock),
    routeOf: (id) => paidRoutes.get(id),
    sold: declarations,
  }).map(routes.open)
  const { match } = routes
  return {
    match,
    sell: (declaration, made) => {
      const route = declareSale(declaration, made, networksOf(settings, declaration))
      const faults = [
        ...findDeclarationFaults([...documents, ...sold].map((one) => one.declaration).concat(route)),
        ...findExampleFaults(route),
        ...findMeterFaults(route, gate.schemes.all),
      ]
      if (faults.length > 0) throw new ConfigError(faults)
      const opened = routes.open(route)
      sold.push(opened)
      return opened
    },
    fetch: async (request, call = {}) => {
      const found = match(request.method, targetOf(request.url).path)
      return found ? found.route(request, { ...call, params: found.params }) : notFound(responder, settings, request)
    },
    sold: () => sold,
    documents: () => documents,
    selfTest: (send) =>
      probes.during((probe) => testSelf({ origin: settings.origin, sold: declarations(), send, probe })),
    drain: traffic.drain,
  }
}

function answerDeps({ settings, ports, infrastructure }: SellingParts, { gate, entitlements }: OpenedGate): AnswerDeps {
  const { clock, log, metrics, ids } = ports
  const { keyring } = infrastructure
  const shared = createSharedChallenges(clock)
  // Anyone who asks right after a change of keys must not get a signature of the old one.
  keyring.onChange(shared.clear)
  return {
    ...{ gate, clock, log, metrics },
    responder: createResponder(createResponseSigner(keyring, { clock }), {
      docsOrigin: docsOriginOf(settings),
      https: settings.origin.startsWith('https:'),
      fixedHeaders: ['Access-Control-Expose-Headers', exposed],
      noTransform: true,
    }),
    timeLimit: createTimeLimit(clock, settings.prepareMs),
    origin: settings.origin,
    authority: new URL(settings.origin).host,
    requestId: createRequestIds(ids),
    shared: () => (entitlements.isEmpty() ? shared : undefined),
  }
}

function siteOf({ origin, name }: TillSettings, { contactEmail }: TillOptions): Site {
  return {
    baseUrl: origin,
    serviceName: name,
    version: '1',
    summary: 'Signed answers, paid per call in USDC with x402.',
    description: 'Prices are per call; nothing is charged for an error.',
    ...(contactEmail === undefined ? {} : { contactEmail }),
  }
}

const proofsOn = ({ store, checkContractSignature, networks }: Infrastructure, clock: Clock): RequestProofDeps => ({
  clock,
  claimNonce: (claim) => claimNonce(store.database, claim),
  checkContractSignature,
  chainIds: networks.map(({ chainId }) => chainId),
})

/** The routes of a till by id and by path. */
function createRoutes(
  paidRoutes: Map<string, PaidRoute>,
  answer: (route: OpenRoute, request: SoldRequest) => PlainResponse | Promise<PlainResponse>,
) {
  const tree = createPathTree<SoldRoute>()
  const open = (declaration: RouteDeclaration): SoldRoute => {
    const { access } = declaration
    const paid = access.kind === 'paid' ? paidEntryOf(declaration, access, bazaarExtension(declaration)) : undefined
    if (paid) paidRoutes.set(declaration.id, paid.route)
    const route: OpenRoute = {
      declaration,
      representations: representationsOf(declaration),
      paid,
      resourcePath: resourcePathOf(declaration.path),
    }
    const opened = soldRoute(declaration, (request) => answer(route, request))
    tree.add(declaration.path, declaration.method, opened)
    return opened
  }
  const match: Till['match'] = (method, path) => {
    const found = tree.find(path)
    // Another method of the same path: its route says which one it takes.
    const route = found?.values.get(method === 'HEAD' ? 'GET' : method) ?? found?.values.values().next().value
    return found && route && { route, params: found.params }
  }
  return { open, match }
}

/** On which networks a route is sold: those that it names, or all of the till. A further dollar is always named. */
const networksOf = (
  { networkIds, networks: all }: TillSettings,
  { id, networks }: Parameters<Till['sell']>[0],
): string[] =>
  (networks ?? all.map(({ caip2 }) => caip2)).map((name) => {
    const caip2 = networkIds.get(name)
    if (caip2 === undefined) throw new ConfigError([`${id}: the till has no network ${name}`])
    return caip2
  })

/** A metered price needs a way to pay that takes less than was quoted, on every network it is offered on. */
function findMeterFaults({ id, access }: RouteDeclaration, schemes: readonly Scheme[]): string[] {
  if (access.kind !== 'paid' || access.price.kind !== 'fixed' || !access.price.metered) return []
  const short = access.networks.filter((network) => !schemes.some((one) => one.chargesLess && one.supports(network)))
  const known = (network: string) => schemes.flatMap((one) => (one.supports(network) ? [one.name] : [])).join(', ')
  return short.map(
    (network) =>
      `${id}: price.upTo needs a payment scheme that can charge less than was quoted on ${network}, and ${known(network)} cannot; add one to schemes, or set a fixed price`,
  )
}

/** A route that takes a Request of the web standards, or what an adapter made of its own kind. */
function soldRoute(declaration: RouteDeclaration, answer: SoldRoute['answer']): SoldRoute {
  const own = createPathTree<true>()
  own.add(declaration.path, declaration.method, true)
  const respond = async (request: Request, call: WebCall = {}): Promise<Response> => {
    const { clientGone, remoteAddress, onDelivery } = call
    const plain = await answer(
      fromWebRequest(request, {
        params: call.params ?? own.find(targetOf(request.url).path)?.params ?? {},
        ...(remoteAddress === undefined ? {} : { remoteAddress }),
        ...(clientGone === undefined ? {} : { clientGone: () => clientGone }),
      }),
    )
    const { delivered } = plain
    if (delivered && onDelivery) onDelivery(() => void delivered())
    // Nothing may run after the response where its way out is not seen.
    else await delivered?.()
    return toWebResponse(plain)
  }
  return Object.assign(respond, { declaration, answer })
}

type Responder = ReturnType<typeof createResponder>

const exchangeOf = (
  settings: TillSettings,
  { method, path, query }: Pick<SoldRequest, 'method' | 'path' | 'query'>,
) => ({
  ...{ requestId: '', method, path, query },
  authority: new URL(settings.origin).host,
})

/** As a paid answer is written out, so that a self-test sees what middleware does to one. */
const answerProbe = (responder: Responder, settings: TillSettings, route: OpenRoute, request: SoldRequest) =>
  responder.respond(exchangeOf(settings, request), {
    ...{ status: 200, body: probeAnswer, cacheControl: 'private, no-store' },
    contentType: route.representations[0] ?? 'application/json',
  })

function notFound(responder: Responder, settings: TillSettings, request: Request): Response {
  const exchange = exchangeOf(settings, { method: request.method, ...targetOf(request.url) })
  return toWebResponse(responder.problem(exchange, new Problem('not_found')))
}

function refuseClosed(responder: Responder, settings: TillSettings, request: SoldRequest): PlainResponse {
  return responder.problem(exchangeOf(settings, request), new Problem('not_ready', { retryAfterSeconds: 5 }))
}

/** Requests under way, so that a till that closes lets them end. */
function createTraffic() {
  const running = new Set<Promise<unknown>>()
  let stopped = false
  return {
    drain: async () => {
      stopped = true
      await Promise.allSettled(running)
    },
    run: <T>(work: () => T | Promise<T>, refuse: () => T): T | Promise<T> => {
      if (stopped) return refuse()
      const done = work()
      if (!(done instanceof Promise)) return done
      const promise = done.finally(() => running.delete(promise))
      running.add(promise)
      return promise
    },
  }
}
