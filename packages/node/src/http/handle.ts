import type { AnswerContent } from '@assay/till'
import type { Attribution, Gate } from '@assay/till/internal'
import { Problem } from '@assay/till/kernel/problem'
import {
  announcesBody,
  type CallContext,
  carriesCredential,
  carriesPayment,
  defaultBodyBytes,
  emptyBody,
  type FreeAccess,
  isStream,
  notAvailable,
  type PaidAccess,
  type PaidRequest,
  type PlainRequest,
  type PlainResponse,
  type ReadInput,
  readHeaders,
  readInput,
  sellCall,
  splitTarget,
  type TimeLimit,
  targetBytesMax,
  type Unavailable,
} from '@assay/till/selling'
import { affiliateHeader, attributionReader } from './attribution.ts'
import { type Authorities, type Authority, homeName, isHome, originOf } from './authority.ts'
import { sharedAnswerMsMax } from './hot-answers.ts'
import type { Bucket, Limiter } from './limits.ts'
import type { Load } from './load.ts'
import { httpProblems } from './problems.ts'
import type { RegisteredRoute, Registry, RouteMatch } from './registry.ts'
import type { Exchange, Responder } from './respond.ts'
import { preflightHeaders } from './response-headers.ts'
import type { RouteDeclaration } from './route.ts'

export type Readiness = {
  /** Why no paid call is taken now. No I/O: it is asked on every request. */
  refusal(): Unavailable | undefined
}

export type HandleDeps = {
  registry: Registry
  gate: Gate
  responder: Responder
  authorities: Authorities
  limiter: Limiter
  load: Load
  readiness: Readiness
  timeLimit: TimeLimit
  /** See gather.ts; waited for before an answer is signed. */
  gather(): Promise<void>
  /** Who brought the sender, on whatever route. */
  attributed?(attribution: Attribution): void
}

/** One request on its way through the app; filled in step by step. */
export type Passage = {
  request: PlainRequest
  exchange: Exchange
  bucket: Bucket
  address: string
  dispatch: NonNullable<CallContext['dispatch']>
}

/** What came out, and whether identical requests may be given the same bytes again. */
export type Handled = {
  response: PlainResponse
  shareMs: number
  paid: boolean
  /** Whether what this answer is the price of has gone out of sale. */
  unavailable?(): boolean
}

/** The life of a request from its target to its response; throws Problems. */
export async function handleRequest(deps: HandleDeps, passage: Passage): Promise<Handled> {
  const { request, exchange, bucket } = passage
  const match = findRoute(deps, passage)
  const cost = match.kind === 'route' ? (match.route.declaration.cost ?? 1) : 1
  if (!deps.limiter.spend(bucket, cost)) throw tooMany(deps.limiter.secondsUntil(bucket, cost))
  const headers = readHeaders(request.rawHeaders, affiliateHeader)
  const anyHost = match.kind === 'route' && match.route.declaration.anyHost === true
  const authority = deps.authorities.of(headers.get('host')) ?? (anyHost ? deps.authorities.fallback : undefined)
  if (!authority) throw new Problem(httpProblems.misdirected, { extra: { base_url: deps.authorities.baseOrigin } })
  exchange.authority = authority.name
  if (match.kind === 'preflight') return alone(preflight(deps, exchange, match.allow))
  if (match.kind === 'unknown_path') throw new Problem('not_found')
  if (match.kind === 'unknown_method') throw new Problem('method_not_allowed', { headers: { Allow: match.allow } })

  const { route, params, headOnly } = match
  const { declaration } = route
  if (route.paid) checkPaidEntry(deps, passage, { access: route.paid.access, params, headers, authority })
  const counted = cost > 0
  const paying = carriesCredential(headers)
  if (counted) deps.load.enter(paying)
  try {
    const maxBytes = declaration.bodyBytesMax ?? defaultBodyBytes
    const body = !headOnly && announcesBody(headers, maxBytes) ? await request.readBody(maxBytes) : emptyBody
    const read = await readInput(route, { params, query: exchange.query, headers, body }, attributionReader)
    if (read.attribution.ref ?? read.attribution.aff) deps.attributed?.(read.attribution)
    if (read.representation === 'text/event-stream') deps.load.checkStreamRoom()
    const context: CallContext = {
      requestId: exchange.requestId,
      method: declaration.method,
      resourceUrl: `${originOf(deps.authorities, declaration.area)}${exchange.path}${read.resourceQuery}`,
      received: { authority: exchange.authority, path: exchange.path, query: exchange.query },
      representation: read.representation,
      attribution: read.attribution,
      headers,
      rawBody: body,
      remoteAddress: passage.address,
      signal: request.connection,
      dispatch: passage.dispatch,
      ...(request.bound ? { bound: request.bound } : {}),
    }
    return route.paid
      ? await answerPaid(deps, passage, { exchange, paid: route.paid, read, context }, headOnly)
      : await answerFree(deps, passage, route, read, context)
  } finally {
    if (counted) deps.load.leave(paying)
  }
}

const namesRoyalty = (route: RouteDeclaration | undefined): boolean =>
  route !== undefined && (route.area === 'C' || route.royalty === true)

const alone = (response: PlainResponse): Handled => ({ response, shareMs: 0, paid: false })

export function tooMany(seconds: number): Problem {
  return new Problem('rate_limited', { retryAfterSeconds: seconds })
}

/** From the target alone: a refusal of what comes after it is signed and labelled as an answer of this route. */
function findRoute(deps: HandleDeps, { request, exchange }: Passage): RouteMatch {
  if (request.target.length > targetBytesMax)
    throw new Problem(httpProblems.uri_too_long, { extra: { max_bytes: targetBytesMax } })
  const target = request.target === '*' ? { path: '*', query: '?' } : splitTarget(request.target)
  if (!target) throw new Problem('bad_request', { detail: 'The request target is not a plain path.' })
  exchange.path = target.path
  exchange.query = target.query
  const match = deps.registry.match(request.method, exchange.path)
  if (match.kind !== 'route') {
    if (match.kind !== 'unknown_path') exchange.royalty = namesRoyalty(match.known?.declaration)
    return match
  }
  const { declaration, madeHop } = match.route
  exchange.royalty = namesRoyalty(declaration)
  exchange.route = declaration
  exchange.next = match.next
  exchange.authority = homeName(deps.authorities, declaration.area)
  if (madeHop) exchange.madeHop = madeHop
  return match
}

/** A request to a route that costs money, of which the target and the headers are known. */
type UnreadPaidRequest = {
  access: PaidAccess
  params: Record<string, string>
  headers: ReadonlyMap<string, string>
  authority: Authority
}

/** Everything that can be refused before input is read or a 402 is made, for routes that cost money. */
function checkPaidEntry(
  deps: HandleDeps,
  passage: Passage,
  { access, params, headers, authority }: UnreadPaidRequest,
): void {
  const area = passage.exchange.route?.area ?? 'core'
  if (!isHome(authority, area))
    throw new Problem(httpProblems.misdirected, { extra: { base_url: originOf(deps.authorities, area) } })
  access.routable?.(params)
  const reason = carriesCredential(headers) ? undefined : access.unavailable?.(params)
  if (reason) throw notAvailable(reason)
  const refusal = deps.readiness.refusal()
  if (refusal) throw notAvailable(refusal)
  if (carriesPayment(headers) && !deps.limiter.maySendPayment(passage.bucket)) throw tooMany(60)
}

function preflight(deps: HandleDeps, exchange: Exchange, allow: string): PlainResponse {
  const response = deps.responder.respond(exchange, {
    status: 204,
    // The signature covers the content type, so even an empty answer names one.
    contentType: 'application/json',
    body: emptyBody,
    cacheControl: 'no-store',
    headers: { Allow: allow },
  })
  response.headers.push(...preflightHeaders)
  return response
}

async function answerFree(
  deps: HandleDeps,
  passage: Passage,
  route: RegisteredRoute,
  read: ReadInput,
  context: CallContext,
): Promise<Handled> {
  if (read.problem) throw read.problem
  const { declaration } = route
  const access = declaration.access as FreeAccess
  const work = access.handle(read.input, context)
  const answer = await deps.timeLimit.run(work, (reason) => {
    passage.request.abort(reason)
    closeLate(work)
  })
  await deps.gather()
  const shareable = answer.status === 200 && !isStream(answer.body)
  const shareMs = shareable ? Math.min(sharedAnswerMsMax, (declaration.cacheSeconds ?? 0) * 1000) : 0
  const { status, contentType, body, headers } = answer
  const response = deps.responder.respond(passage.exchange, {
    status,
    contentType,
    body,
    headers,
    cacheControl: cacheControlOf(declaration.immutable === true && shareable, shareMs),
  })
  if (isStream(response.body)) response.body = deps.load.track(response.body)
  return { response, shareMs, paid: false }
}

/** Nobody waits for it any more: a stream that is opened all the same would keep its place for ever. */
function closeLate(work: Promise<AnswerContent>): void {
  work.then(
    ({ body }) => isStream(body) && void body[Symbol.asyncIterator]().return?.(),
    () => {},
  )
}

function cacheControlOf(immutable: boolean, shareMs: number): string {
  if (immutable) return 'public, max-age=31536000, immutable'
  return shareMs > 0 ? `public, max-age=${Math.floor(shareMs / 1000)}` : 'no-store'
}

async function answerPaid(
  deps: HandleDeps,
  passage: Passage,
  asked: PaidRequest<Exchange>,
  headOnly: boolean,
): Promise<Handled> {
  const { paid, read, context } = asked
  const ownSignal = () => passage.request.ownSignal()
  const { kind, response, problem } = await sellCall(deps, asked, { headOnly, ownSignal })
  // A challenge that came out of the gate is not the same for everybody.
  const shared = kind === 'challenge' && !carriesCredential(context.headers)
  if (shared) {
    const { access } = paid
    const unavailable = access.unavailable && (() => access.unavailable?.(read.input.params) !== undefined)
    const shareMs = context.rawBody.byteLength === 0 ? sharedAnswerMsMax : 0
    return { response, shareMs, paid: true, ...(unavailable && { unavailable }) }
  }
  if (problem && badPaymentCodes.has(problem.code)) deps.limiter.countBadPayment(passage.bucket)
  if (isStream(response.body)) response.body = deps.load.track(response.body)
  return alone(response)
}

const badPaymentCodes: ReadonlySet<string> = new Set(['payment_malformed', 'payment_v1', 'payment_invalid'])
