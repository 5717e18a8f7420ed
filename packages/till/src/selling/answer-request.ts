import type { Clock } from '../kernel/clock.ts'
import type { Log } from '../kernel/log.ts'
import type { Metrics } from '../kernel/metrics.ts'
import { asProblem, Problem } from '../kernel/problem.ts'
import { notAvailable } from './availability.ts'
import { defaultBodyBytes, tooLarge } from './body-limit.ts'
import type { PaidEntry } from './paid-route.ts'
import { emptyBody, type PlainResponse } from './plain.ts'
import { type ReadInput, readInput } from './read-input.ts'
import { carriesCredential, carriesPayment } from './request-headers.ts'
import type { Exchange } from './respond.ts'
import type { CallContext, FreeAccess, RouteDeclaration } from './route.ts'
import { type SellDeps, sellCall } from './sell-call.ts'
import type { SharedChallenges } from './shared-challenges.ts'
import type { SoldRequest } from './sold-request.ts'

export type AnswerDeps = SellDeps<Exchange> & {
  clock: Clock
  log: Log
  metrics: Metrics
  /** `https://api.example.com`, and its host as RFC 9421 wants it. */
  origin: string
  authority: string
  requestId(incoming: string | undefined): string
  /** Undefined while something else than a payment may open a route. */
  shared(): SharedChallenges | undefined
}

/** A declaration with what is derived from it once. */
export type OpenRoute = {
  declaration: RouteDeclaration
  representations: readonly string[]
  paid: PaidEntry | undefined
  resourcePath(params: Readonly<Record<string, string>>): string
}

/**
 * One request to one route, from its parts to its signed response; at once where the answer is known. Never throws for what
 * the caller wrote.
 */
export function answerRequest(
  deps: AnswerDeps,
  route: OpenRoute,
  request: SoldRequest,
): PlainResponse | Promise<PlainResponse> {
  const { method, path, query } = request
  const { id } = route.declaration
  const requestId = deps.requestId(request.header('x-request-id'))
  const startedMs = deps.clock.monotonicMs()
  const finish = (response: PlainResponse): PlainResponse => {
    if (response.authenticate) response.headers.push('WWW-Authenticate', response.authenticate())
    response.headers.push('X-Request-Id', requestId)
    deps.metrics.count('http_requests', { route: id, status: String(response.status) })
    deps.metrics.observeMs('http_request', deps.clock.monotonicMs() - startedMs, { route: id })
    return response
  }
  const forSale = route.paid?.access.unavailable?.({ ...request.params }) === undefined
  const shared = route.paid?.route.fixedPrice && forSale ? deps.shared() : undefined
  const key = request.bound ? undefined : shared?.keyOf(request)
  const known = key === undefined ? undefined : shared?.find(`${id} ${key}`)
  if (known) return finish(known)
  const exchange: Exchange = { requestId, method, authority: deps.authority, path, query }
  return answer(deps, route, request, exchange)
    .catch((error: unknown) => {
      const problem = asProblem(error)
      if (problem !== error) deps.log.error({ request_id: requestId, route: id, error }, 'a request failed')
      return deps.responder.problem(exchange, problem)
    })
    .then((response) => {
      if (key !== undefined && response.status === 402) shared?.keep(`${id} ${key}`, response)
      return finish(response)
    })
}

async function answer(
  deps: AnswerDeps,
  route: OpenRoute,
  request: SoldRequest,
  exchange: Exchange,
): Promise<PlainResponse> {
  const { declaration, paid } = route
  const { headers } = request
  const headOnly = request.method === 'HEAD' && declaration.method === 'GET'
  if (!headOnly && request.method !== declaration.method)
    throw new Problem('method_not_allowed', { headers: { Allow: declaration.method } })
  const reason = carriesCredential(headers) ? undefined : paid?.access.unavailable?.({ ...request.params })
  if (reason) throw notAvailable(reason)
  if (paid) refuseConditional(headers)
  const maxBytes = declaration.bodyBytesMax ?? defaultBodyBytes
  const body = !headOnly && announcesBody(headers, maxBytes) ? await request.readBody(maxBytes) : emptyBody
  const read = await readInput(route, { params: { ...request.params }, query: request.query, headers, body })
  const context: CallContext = {
    requestId: exchange.requestId,
    method: declaration.method,
    resourceUrl: `${deps.origin}${route.resourcePath(request.params)}${read.resourceQuery}`,
    received: { authority: exchange.authority, path: exchange.path, query: exchange.query },
    representation: read.representation,
    attribution: {},
    headers,
    rawBody: body,
    remoteAddress: request.remoteAddress,
    signal: neverAborted,
    ...(request.bound ? { bound: request.bound } : {}),
  }
  if (!paid) return answerFree(deps, declaration, read, context, exchange)
  const ownSignal = () => request.clientGone()
  const sold = await sellCall(deps, { exchange, paid, read, context }, { headOnly, ownSignal })
  return sold.response
}

/** Middleware of the application may turn a paid answer into a 304 for these, and the buyer would get nothing. */
function refuseConditional(headers: ReadonlyMap<string, string>): void {
  if (
    carriesPayment(headers) &&
    ['if-none-match', 'if-modified-since', 'if-match', 'range'].some((name) => headers.has(name))
  )
    throw new Problem('bad_request', {
      detail: 'A paid request must not be conditional or partial; nothing was taken.',
    })
}

const neverAborted = new AbortController().signal

async function answerFree(
  deps: AnswerDeps,
  declaration: RouteDeclaration,
  read: ReadInput,
  context: CallContext,
  exchange: Exchange,
): Promise<PlainResponse> {
  if (read.problem) throw read.problem
  const work = (declaration.access as FreeAccess).handle(read.input, context)
  const given = await deps.timeLimit.run(work, () => {})
  const cacheControl = given.paymentResponse === undefined ? 'no-store' : 'private, no-store'
  return deps.responder.respond(exchange, { ...given, cacheControl })
}

/** Whether there is a body to read; what is too large or encoded is refused before the first byte of it. */
export function announcesBody(headers: ReadonlyMap<string, string>, maxBytes: number): boolean {
  const encoding = headers.get('content-encoding')
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') throw new Problem('unsupported_media_type')
  const length = headers.get('content-length')
  if (length !== undefined && Number(length) > maxBytes) throw tooLarge(maxBytes)
  return headers.has('transfer-encoding') || (length !== undefined && length !== '0')
}
