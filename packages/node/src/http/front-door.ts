import type { Json } from '../kernel/canonical-json.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Ids } from '../kernel/ids.ts'
import type { Log } from '../kernel/log.ts'
import type { Metrics } from '../kernel/metrics.ts'
import { asProblem } from '../kernel/problem.ts'
import type { Gate } from '../payments/index.ts'
import type { ResponseSigner } from '../signing/index.ts'
import { createAuthorities } from './authority.ts'
import { clientAddress } from './client-address.ts'
import { type Handled, handleRequest, type Passage, type Readiness } from './handle.ts'
import { createHotAnswers, type HotAnswer } from './hot-answers.ts'
import { createHeaderGlance } from './hot-key.ts'
import { createLimiter, demoLimits, type LimitConfig, productionLimits } from './limits.ts'
import { createLoad, type LoadConfig, usualLoad } from './load.ts'
import { isStream, type PlainRequest, type PlainResponse } from './plain.ts'
import { createRegistry, type Registry } from './registry.ts'
import { createRequestIds } from './request-id.ts'
import { createResponder, type Exchange } from './respond.ts'
import type { RouteDeclaration } from './route.ts'
import { type Listener, type ListenOptions, openListener } from './server.ts'

export type FrontDoorConfig = {
  baseUrl: string
  apiUrl: string
  demo: boolean
  /** Checksummed. */
  royaltyRecipient: string
  contentLicense: string
  /** Where problem `type` URLs resolve; BASE_URL unless told. */
  docsOrigin?: string
  /** Number of proxies in front whose X-Forwarded-For is believed. */
  trustProxy?: number
  limits?: Partial<LimitConfig>
  load?: Partial<LoadConfig>
  hotBytesMax?: number
}

export type FrontDoorDeps = {
  routes: readonly RouteDeclaration[]
  gate: Gate
  signer: ResponseSigner
  config: FrontDoorConfig
  clock: Clock
  ids: Ids
  log: Log
  metrics: Metrics
  readiness: Readiness
  /** Bazaar block of a paid route's 402. */
  discoveryBlock?: (route: RouteDeclaration) => Json | undefined
}

export type FrontDoor = {
  registry: Registry
  handle(request: PlainRequest): Promise<PlainResponse>
  /** As `handle`, without a promise where the answer is at hand. */
  answer(request: PlainRequest): PlainResponse | Promise<PlainResponse>
  listen(options: ListenOptions): Promise<Listener>
  /** Forgets shared answers, for instance when prices or keys change. */
  forgetSharedAnswers(): void
}

const hotBytesUsual = 16 * 1024 * 1024

export function createFrontDoor(deps: FrontDoorDeps): FrontDoor {
  const { config, clock, log, metrics } = deps
  const authorities = createAuthorities(config)
  const limiter = createLimiter(clock, { ...(config.demo ? demoLimits : productionLimits), ...config.limits })
  const registry = createRegistry(deps.routes, deps.discoveryBlock)
  const responder = createResponder(deps.signer, {
    royaltyRecipient: config.royaltyRecipient,
    contentLicense: config.contentLicense,
    docsOrigin: config.docsOrigin ?? authorities.baseOrigin,
    https: authorities.baseOrigin.startsWith('https:'),
    rateLimitPolicy: limiter.policyHeader,
  })
  const load = createLoad({ ...usualLoad, ...config.load })
  const steps = { ...deps, registry, responder, authorities, limiter, load }
  const hot = createHotAnswers(config.hotBytesMax ?? hotBytesUsual)
  const glance = createHeaderGlance()
  const requestId = createRequestIds(deps.ids)
  const trustedHops = config.trustProxy ?? 0

  const record = (method: string, routeId: string, status: number, id: string, address: string, ms: number) => {
    metrics.count('http_requests', { route: routeId, status: String(status) })
    metrics.observeMs('http_request', ms, { route: routeId })
    log.info(
      { request_id: id, method, route: routeId, status, ms: Math.round(ms * 100) / 100, remote: address },
      'request',
    )
  }

  const handleCold = async (passage: Passage, key: string | undefined, startedMs: number): Promise<PlainResponse> => {
    const { exchange } = passage
    let handled: Handled
    try {
      handled = await handleRequest(steps, passage)
    } catch (error) {
      const problem = asProblem(error)
      if (problem !== error && !passage.request.signal.aborted)
        log.error({ request_id: exchange.requestId, route: exchange.route?.id, error }, 'a request failed')
      handled = { response: responder.problem(exchange, problem), shareMs: 0, paid: false }
    }
    const { response, shareMs } = handled
    const routeId = exchange.route?.id ?? 'none'
    if (key !== undefined && shareMs > 0 && !isStream(response.body)) {
      const { status, headers, body } = response
      const cost = exchange.route?.cost ?? 1
      const expiresAtMs = clock.nowMs() + shareMs
      hot.put(key, { status, headers: [...headers], body, routeId, cost, paid: handled.paid, expiresAtMs })
    }
    response.headers.push('X-Request-Id', exchange.requestId, 'RateLimit', limiter.header(passage.bucket))
    record(
      exchange.method,
      routeId,
      response.status,
      exchange.requestId,
      passage.address,
      clock.monotonicMs() - startedMs,
    )
    return response
  }

  const answer = (request: PlainRequest): PlainResponse | Promise<PlainResponse> => {
    const startedMs = clock.monotonicMs()
    const { method, target } = request
    const seen = glance(method, target, request.rawHeaders)
    const address = clientAddress(request.remoteAddress, seen.forwardedFor, trustedHops)
    const bucket = limiter.bucketOf(address)
    const id = requestId(seen.requestId)
    const shared: HotAnswer | undefined = seen.key === undefined ? undefined : hot.get(seen.key, clock.nowMs())
    if (shared && !(shared.paid && deps.readiness.refusal() !== null) && limiter.spend(bucket, shared.cost)) {
      const headers = shared.headers.concat('X-Request-Id', id, 'RateLimit', limiter.header(bucket))
      record(method, shared.routeId, shared.status, id, address, clock.monotonicMs() - startedMs)
      return { status: shared.status, headers, body: shared.body }
    }
    const exchange: Exchange = {
      requestId: id,
      method,
      authority: authorities.fallback.name,
      path: '/',
      query: '?',
      route: undefined,
      next: '/',
    }
    return handleCold({ request, exchange, bucket, address }, seen.key, startedMs)
  }

  const door: FrontDoor = {
    registry,
    answer,
    handle: async (request) => answer(request),
    listen: async (options) => {
      const listener = await openListener({ ...options, log })
      listener.serve(answer)
      return listener
    },
    forgetSharedAnswers: () => hot.clear(),
  }
  return door
}
