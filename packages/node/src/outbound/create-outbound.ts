import { isLoopbackIp } from '@assay/protocol/loopback'
import type { Clock } from '@assay/till/kernel/clock'
import type { Log } from '@assay/till/kernel/log'
import { type Metrics, traced } from '@assay/till/kernel/metrics'
import { type Agents, createAgents, type Exchange, exchangeOnce } from './exchange-adapter.ts'
import { isGlobalUnicast } from './global-address.ts'
import { parseIp } from './ip-address.ts'
import { type LoopbackTarget, parseLoopbackOrigin } from './loopback.ts'
import type { Locate, Located, Outbound, OutboundOk, OutboundOutcome, OutboundRequest } from './outcome.ts'
import { lookupAddresses, type Resolver } from './resolver.ts'
import { TimeIsUp, withTimeLimit } from './time-limit.ts'
import { type VettedUrl, vetUrl } from './vet-url.ts'

export type OutboundOptions = {
  /** Asked in order for addresses; the first that answers decides. */
  resolvers: readonly Resolver[]
  clock: Clock
  log: Log
  metrics: Metrics
  /** Says who asks and where to read more. */
  userAgent: string
  /** Web Bot Auth: header fields that prove the User-Agent. */
  sign?(request: { authority: string; userAgent: string }): Record<string, string>
  /** Names of this node. */
  ownHosts?: readonly string[]
  /** Public addresses under which this node is reached: a name that leads to one of them is its own too. */
  ownAddresses?: readonly string[]
  /** Demo and tests: names that are asked at a loopback port instead. Throws at creation in production. */
  loopbackHosts?: ReadonlyMap<string, LoopbackTarget>
  /** Tests only: whole loopback origins such as http://127.0.0.1:1234. Throws at creation in production. */
  loopbackOrigins?: readonly string[]
  mode: 'demo' | 'production'
  connectMs?: number
  /** Extra certificate authority, for tests of TLS. */
  certificateAuthority?: string
}

const forbiddenHeaders =
  /^(?:authorization|proxy-.*|cookie2?|host|connection|transfer-encoding|content-length|te|trailer|upgrade)$/i
const addressesTriedMax = 2

/** IPv6 has many spellings of one address. */
const sameSpelling = (address: string) => {
  const ip = parseIp(address)
  return ip ? `${ip.version} ${ip.value}` : address
}

type Mapping = { hosts: ReadonlyMap<string, LoopbackTarget>; origins: ReadonlyMap<string, LoopbackTarget> }

/** The safe fetcher. It holds no cookies and no credentials, and idle connections for a few seconds. */
export function createOutbound(options: OutboundOptions): Outbound & { locate: Locate } {
  const mapping = loopbackMapping(options)
  const agents = createAgents()
  const ownHosts = new Set((options.ownHosts ?? []).map((host) => host.toLowerCase()))
  const ownAddresses = new Set([...(options.ownAddresses ?? []), ...ownHosts].map(sameSpelling))
  const route = { mapping, ownHosts, ownAddresses, agents }
  return {
    locate: (text, signal) => locate(options, route, text, signal),
    fetch: async (text, request) => {
      for (const name of Object.keys(request.headers ?? {}))
        if (forbiddenHeaders.test(name)) throw new Error(`the header ${name} is never sent`)
      const startedAt = options.clock.monotonicMs()
      const outcome = await traced(options.metrics, 'outbound', {}, () =>
        withTimeLimit(options.clock, request.totalMs, request.signal, (signal) =>
          follow(options, route, text, request, signal),
        ),
      )
      const reason = outcome.status === 'ok' ? `${Math.floor(outcome.httpStatus / 100)}xx` : outcome.reason
      options.metrics.count('outbound_requests', { outcome: outcome.status, reason })
      options.metrics.observeMs('outbound_request', options.clock.monotonicMs() - startedAt)
      return outcome
    },
  }
}

function loopbackMapping(options: OutboundOptions): Mapping {
  const hosts = options.loopbackHosts ?? new Map()
  const origins = new Map((options.loopbackOrigins ?? []).map((origin) => [origin, parseLoopbackOrigin(origin)]))
  if (options.mode === 'production' && (hosts.size > 0 || origins.size > 0))
    throw new Error('a production node never maps names to loopback')
  for (const target of [...hosts.values(), ...origins.values()])
    if (!isLoopbackIp(target.address)) throw new Error(`not a loopback address: ${target.address}`)
  return { hosts, origins }
}

type Route = {
  mapping: Mapping
  ownHosts: ReadonlySet<string>
  ownAddresses: ReadonlySet<string>
  agents: Agents
}

/** Redirects by hand: every hop is parsed, resolved and checked as if a stranger had named it. */
async function follow(
  options: OutboundOptions,
  route: Route,
  text: string,
  request: OutboundRequest,
  signal: AbortSignal,
): Promise<OutboundOutcome> {
  const asked: string[] = []
  let current = text
  let wasSecure = false
  for (;;) {
    const verdict = vetUrl(current, {
      plainHttp: request.plainHttp ?? false,
      ownHosts: route.ownHosts,
      mapped: route.mapping,
    })
    if (!verdict.ok)
      return { status: 'refused', reason: verdict.reason, detail: verdict.detail, url: current.slice(0, 2_048) }
    if (wasSecure && !verdict.secure)
      return { status: 'refused', reason: 'downgrade', detail: 'https redirects to http', url: verdict.url.href }
    wasSecure = verdict.secure
    const hop = await askOnce(options, route, verdict, request, signal)
    if (hop.status !== 'redirect') return hop.status === 'ok' ? { ...hop, redirectedFrom: asked } : hop
    asked.push(verdict.url.href)
    if (asked.length > request.redirectsMax)
      return {
        status: 'refused',
        reason: 'too_many_redirects',
        detail: `more than ${request.redirectsMax} redirects`,
        url: hop.location,
      }
    if (asked.includes(hop.location))
      return { status: 'refused', reason: 'redirect_loop', detail: 'the redirects lead back', url: hop.location }
    current = hop.location
  }
}

/** The same checks without a request: the connection that follows goes to the address that was checked. */
async function locate(options: OutboundOptions, route: Route, text: string, signal: AbortSignal): Promise<Located> {
  const { mapping, ownHosts, ownAddresses } = route
  const verdict = vetUrl(text, { plainHttp: false, ownHosts, mapped: mapping })
  if (!verdict.ok)
    return { status: 'refused', reason: verdict.reason, detail: verdict.detail, url: text.slice(0, 2_048) }
  const mapped = mapping.origins.get(verdict.url.origin) ?? mapping.hosts.get(verdict.host)
  if (mapped) return { status: 'ok', address: mapped.address, port: mapped.port }
  const addresses = await globalAddresses(options, ownAddresses, verdict, signal)
  if (!Array.isArray(addresses)) return addresses
  const [address] = addresses
  if (address !== undefined) return { status: 'ok', address, port: verdict.port }
  return { status: 'failed', reason: 'no_address', detail: 'the name has no address', url: text, retryable: true }
}

type Hop = OutboundOutcome | { status: 'redirect'; location: string }

async function askOnce(
  options: OutboundOptions,
  { mapping, agents, ownAddresses }: Route,
  vetted: VettedUrl,
  request: OutboundRequest,
  signal: AbortSignal,
): Promise<Hop> {
  const url = vetted.url.href
  const mapped = mapping.origins.get(vetted.url.origin) ?? mapping.hosts.get(vetted.host)
  const vettedAddresses = mapped ? [mapped.address] : await globalAddresses(options, ownAddresses, vetted, signal)
  if (!Array.isArray(vettedAddresses)) return vettedAddresses
  let hop: Hop = { status: 'failed', reason: 'no_address', detail: 'the name has no address', url, retryable: true }
  for (const address of vettedAddresses.slice(0, addressesTriedMax)) {
    const exchange = await exchangeOnce({
      clock: options.clock,
      url: vetted.url,
      address,
      // A mapped name is plain http at a loopback port, whatever port the URL names.
      port: mapped?.port ?? vetted.port,
      secure: vetted.secure,
      method: request.method ?? 'GET',
      ...(request.body === undefined ? {} : { body: request.body }),
      headers: headersFor(options, vetted, request),
      maxBytes: request.maxBytes,
      onTooLarge: request.onTooLarge ?? 'fail',
      accept: request.accept ?? [],
      connectMs: options.connectMs ?? 5_000,
      agents,
      ...(options.certificateAuthority === undefined ? {} : { certificateAuthority: options.certificateAuthority }),
      signal,
    })
    hop = hopOf(exchange, url, vetted, address)
    // Only a connection that never came about may be tried at the next address.
    if (!(hop.status === 'failed' && hop.reason === 'connect')) return hop
  }
  return hop
}

/** All addresses of the name, or a refusal when even one of them is not public: a mixed answer is an attack. */
async function globalAddresses(
  options: OutboundOptions,
  ownAddresses: ReadonlySet<string>,
  vetted: VettedUrl,
  signal: AbortSignal,
): Promise<string[] | Exclude<OutboundOutcome, OutboundOk>> {
  const url = vetted.url.href
  const answer = await lookupAddresses(options.resolvers, vetted.host, signal)
  if (signal.aborted) return { status: 'failed', ...abortReason(signal), url, retryable: true }
  if (answer.status === 'failed')
    return { status: 'failed', reason: 'dns', detail: answer.detail, url, retryable: true }
  if (answer.addresses.some((address) => ownAddresses.has(sameSpelling(address))))
    return { status: 'refused', reason: 'own_host', detail: 'the name leads to this node itself', url }
  const hidden = answer.addresses.find((address) => !isGlobalUnicast(address))
  if (hidden !== undefined) {
    options.log.warn({ host: vetted.host }, 'an outbound request to an address that is not public was refused')
    return {
      status: 'refused',
      reason: 'address_not_global',
      detail: 'the name leads to an address that is not public',
      url,
    }
  }
  return [...answer.addresses]
}

function headersFor(options: OutboundOptions, vetted: VettedUrl, request: OutboundRequest): Record<string, string> {
  return {
    accept: '*/*',
    ...lowerCased(request.headers ?? {}),
    'accept-encoding': 'gzip, br, deflate',
    'user-agent': options.userAgent,
    host: vetted.url.host,
    ...options.sign?.({ authority: vetted.url.host, userAgent: options.userAgent }),
  }
}

const lowerCased = (headers: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

function hopOf(exchange: Exchange, url: string, vetted: VettedUrl, address: string): Hop {
  if (exchange.status !== 'ok') return { ...exchange, url } as OutboundOutcome
  const location = exchange.headers.get('location')
  if ([301, 302, 303, 307, 308].includes(exchange.httpStatus) && location !== undefined) {
    // A relative target is joined by the same parser that made the base; an odd one is refused by the next vetting.
    const joined = URL.canParse(location, url) ? new URL(location, url).href : location
    return { status: 'redirect', location: joined.slice(0, 4_096) }
  }
  const ok: OutboundOk = {
    status: 'ok',
    httpStatus: exchange.httpStatus,
    headers: exchange.headers,
    bytes: exchange.bytes,
    cut: exchange.cut,
    url,
    redirectedFrom: [],
    address,
    secure: vetted.secure,
  }
  return ok
}

const abortReason = (signal: AbortSignal) =>
  signal.reason instanceof TimeIsUp
    ? { reason: 'timeout' as const, detail: 'timed out' }
    : { reason: 'aborted' as const, detail: 'the caller gave up' }
