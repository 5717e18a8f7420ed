import type { Attribution, Gate } from '@assay/till/internal'
import type { Clock } from '@assay/till/kernel/clock'
import type { Ids } from '@assay/till/kernel/ids'
import type { Log } from '@assay/till/kernel/log'
import { type Metrics, type SetAttributes, traced } from '@assay/till/kernel/metrics'
import { asProblem, type Problem } from '@assay/till/kernel/problem'
import { createRequestIds, createTimeLimit, type PlainRequest, type PlainResponse } from '@assay/till/selling'
import type { ResponseSigner } from '@assay/till/signing'
import { createAuthorities } from './authority.ts'
import { clientAddress } from './client-address.ts'
import { type Handled, handleRequest, type Passage, type Readiness } from './handle.ts'
import { createSummaryReader } from './hot-key.ts'
import { createLimiter, demoLimits, type LimitConfig, productionLimits } from './limits.ts'
import { createLoad, defaultLoad, type LoadConfig } from './load.ts'
import type { Registry } from './registry.ts'
import { createNodeResponder, type Exchange } from './respond.ts'
import { type Listener, type ListenOptions, openListener } from './server.ts'
import { createSharedAnswers, type SharedAnswers } from './shared-answers.ts'
import { createTurnBatcher } from './turn-batcher.ts'

export type HttpAppConfig = {
  baseUrl: string
  apiUrl: string
  demo: boolean
  /** Demo only: see AuthorityConfig. */
  localPort?: number
  /** Checksummed. */
  royaltyRecipient: string
  contentLicense: string
  /** Where problem `type` URLs resolve; default: BASE_URL. */
  docsOrigin?: string
  /** Number of proxies in front whose X-Forwarded-For is believed. */
  trustProxy?: number
  limits?: Partial<LimitConfig>
  load?: Partial<LoadConfig>
  hotBytesMax?: number
}

export type HttpAppDeps = {
  registry: Registry
  gate: Gate
  signer: ResponseSigner
  config: HttpAppConfig
  clock: Clock
  ids: Ids
  log: Log
  metrics: Metrics
  readiness: Readiness
  /** Answers as soon as the database has time for a request. */
  probe?(): Promise<unknown>
  attributed?(attribution: Attribution): void
  /** Called for every request that was not answered from memory, with its headers. */
  answered?(rawHeaders: readonly string[]): void
  /** URL of another node that answers what this one does not. */
  findPeer?(method: string, path: string): string | undefined
}

export type HttpApp = {
  handle(request: PlainRequest): Promise<PlainResponse>
  /** The answer to an identical request of the last seconds, when it may be given again. */
  shared: SharedAnswers['find']
  /** The answer to a request of which not even the path could be read. */
  refuse(problem: Problem): PlainResponse
  listen(options: ListenOptions): Promise<Listener>
  /** Clears shared answers, for instance when prices or keys change. */
  clearSharedAnswers(): void
}

const defaultHotBytes = 16 * 1024 * 1024

export function createHttpApp(deps: HttpAppDeps): HttpApp {
  const { config, registry, clock, log, metrics, readiness } = deps
  const authorities = createAuthorities(config)
  const limiter = createLimiter(clock, { ...(config.demo ? demoLimits : productionLimits), ...config.limits })
  const responder = openResponder(deps, authorities.baseOrigin, limiter.policyHeader)
  const load = createLoad({ ...defaultLoad, ...config.load }, { clock, ...(deps.probe ? { probe: deps.probe } : {}) })
  const steps = {
    ...{ gate: deps.gate, readiness, registry, responder, authorities, limiter, load },
    timeLimit: createTimeLimit(clock),
    gather: createTurnBatcher(),
    ...(deps.attributed === undefined ? {} : { attributed: deps.attributed }),
  }
  const requestId = createRequestIds(deps.ids)
  const trustedHops = config.trustProxy ?? 0
  const bytesMax = config.hotBytesMax ?? defaultHotBytes
  const shared = createSharedAnswers({ clock, log, metrics, limiter, readiness, requestId, trustedHops, bytesMax })
  const readSummary = createSummaryReader()

  const answer = async (
    request: PlainRequest,
    dispatch: HttpApp['handle'],
    set: SetAttributes,
  ): Promise<PlainResponse> => {
    const startedMs = clock.monotonicMs()
    shared.flush()
    const seen = readSummary(request.method, request.target, request.rawHeaders)
    const address = clientAddress(request.remoteAddress, seen.forwardedFor, trustedHops)
    const bucket = limiter.bucketOf(address)
    const exchange = openExchange(requestId(seen.requestId), request.method, authorities.fallback.name)
    const passage: Passage = { request, exchange, bucket, address, dispatch }
    const handled = await handleRequest(steps, passage).catch((error: unknown): Handled => {
      const response = answerFailure(deps, responder, passage, error)
      return { response, shareMs: 0, paid: false }
    })
    // The price of a call that came another way is not the answer to the request that it stands for.
    shared.keep(request.bound ? undefined : seen.key, exchange.route, handled)
    const { response } = handled
    if (response.authenticate) response.headers.push('WWW-Authenticate', response.authenticate())
    response.headers.push('X-Request-Id', exchange.requestId, 'RateLimit', limiter.header(bucket))
    recordRequest(deps, passage, response.status, clock.monotonicMs() - startedMs)
    set({ route: exchange.route?.id ?? 'none', status: response.status, request_id: exchange.requestId })
    return response
  }

  const handle = (request: PlainRequest): Promise<PlainResponse> =>
    traced(metrics, 'request', { method: request.method }, (set) => answer(request, handle, set))

  // Whatever was asked for may have been of area C.
  const refuse = (problem: Problem): PlainResponse => {
    const exchange = { ...openExchange(requestId(undefined), 'GET', authorities.fallback.name), royalty: true }
    const response = responder.problem(exchange, problem)
    response.headers.push('X-Request-Id', exchange.requestId)
    return response
  }

  return {
    shared: shared.find,
    handle,
    refuse,
    listen: async (options) => {
      const listener = await openListener({ ...options, log })
      await listener.serve({ shared: shared.find, handle, refuse })
      return listener
    },
    clearSharedAnswers: shared.clear,
  }
}

const openResponder = ({ signer, config }: HttpAppDeps, baseOrigin: string, rateLimitPolicy: string) =>
  createNodeResponder(signer, {
    royaltyRecipient: config.royaltyRecipient,
    contentLicense: config.contentLicense,
    docsOrigin: config.docsOrigin ?? baseOrigin,
    https: baseOrigin.startsWith('https:'),
    rateLimitPolicy,
  })

function recordRequest(
  { log, metrics, answered }: HttpAppDeps,
  { request, exchange, address }: Passage,
  status: number,
  ms: number,
): void {
  const { requestId: id, method, route } = exchange
  const labels = { route: route?.id ?? 'none', status: String(status) }
  metrics.count('http_requests', labels)
  answered?.(request.rawHeaders)
  metrics.observeMs('http_request', ms, { route: labels.route })
  log.info({ request_id: id, method, route: labels.route, status, ms: Math.round(ms), remote: address }, 'request')
}

function answerFailure(
  { log, findPeer }: HttpAppDeps,
  responder: ReturnType<typeof createNodeResponder>,
  { request, exchange }: Passage,
  error: unknown,
): PlainResponse {
  const problem = asProblem(error)
  if (problem !== error && !request.connection.aborted)
    log.error({ request_id: exchange.requestId, route: exchange.route?.id, error }, 'a request failed')
  const other = mayBeServedByPeer(exchange, problem) && findPeer?.(exchange.method, exchange.path)
  const response = responder.problem(exchange, problem)
  if (other) response.headers.push('Link', `<${other}>; rel="next"`)
  return response
}

/** Whether another node may have what was asked for: there is no such path here, or it is not sold at the moment. */
function mayBeServedByPeer({ route }: Exchange, { code }: Problem): boolean {
  return code === 'not_available' || (code === 'not_found' && route === undefined)
}

/** What is known before anything was read: enough to sign even the refusal of an unreadable request. */
function openExchange(requestId: string, method: string, authority: string): Exchange {
  return { requestId, method, authority, path: '/', query: '?', route: undefined, royalty: false, next: '/' }
}
