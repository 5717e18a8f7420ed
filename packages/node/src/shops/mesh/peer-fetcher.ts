import { isLoopbackAddress } from '@assay/protocol/mesh/node-address'
import type { Clock } from '@assay/till/kernel/clock'
import type { Log } from '@assay/till/kernel/log'
import type { Metrics } from '@assay/till/kernel/metrics'
import {
  createOutbound,
  type LoopbackTarget,
  type Outbound,
  type OutboundOutcome,
  type OutboundRequest,
  type Resolver,
} from '../../outbound/index.ts'

/** The only way from here to other nodes: the safe fetcher, without redirects. */
export type PeerFetcher = {
  fetch(url: string, request: PeerRequest): Promise<OutboundOutcome>
}

/** `as: 'buyer'`: without the name of this node, as the SDK asks. */
export type PeerRequest = Omit<OutboundRequest, 'redirectsMax' | 'totalMs'> & { as?: 'buyer' }

export type PeerFetcherOptions = {
  mode: 'demo' | 'production'
  resolvers: readonly Resolver[]
  clock: Clock
  log: Log
  metrics: Metrics
  userAgent: string
  ownHosts: readonly string[]
  ownAddresses: readonly string[]
  demoHosts: ReadonlyMap<string, LoopbackTarget>
  /** Demo only: ports of this machine at which peers may be. */
  loopbackPorts: { from: number; to: number } | undefined
  timeoutMs: number
  /** Tests cut connections here. */
  intercept?(fetch: PeerFetcher['fetch']): PeerFetcher['fetch']
}

const loopbackOriginsMax = 128
const buyersAgent = 'node'

export function createPeerFetcher(options: PeerFetcherOptions): PeerFetcher {
  const { mode, loopbackPorts, timeoutMs } = options
  const open = (userAgent: string, loopbackOrigins: readonly string[]) =>
    createOutbound({
      ...options,
      userAgent,
      ...(mode === 'demo' ? { loopbackHosts: options.demoHosts, loopbackOrigins } : {}),
    })
  const byAgent = new Map([options.userAgent, buyersAgent].map((agent) => [agent, open(agent, [])]))
  const local = new Map<string, Outbound>()
  // Each origin on this machine is allowed by name, and only in the range that was set.
  const outboundFor = (url: string, agent: string): Outbound => {
    const usual = byAgent.get(agent) ?? open(agent, [])
    const origin = URL.canParse(url) ? new URL(url).origin : ''
    if (mode !== 'demo' || !isLoopbackAddress(origin)) return usual
    const port = Number(new URL(origin).port)
    if (loopbackPorts === undefined || port < loopbackPorts.from || port > loopbackPorts.to) return usual
    const known = local.get(`${agent} ${origin}`)
    if (known) return known
    if (local.size >= loopbackOriginsMax) local.clear()
    const fresh = open(agent, [origin])
    local.set(`${agent} ${origin}`, fresh)
    return fresh
  }
  const fetch: PeerFetcher['fetch'] = (url, { as, ...request }) =>
    outboundFor(url, as === 'buyer' ? buyersAgent : options.userAgent).fetch(url, {
      ...request,
      redirectsMax: 0,
      totalMs: timeoutMs,
    })
  return { fetch: options.intercept?.(fetch) ?? fetch }
}

/** The JSON of an answer 200, or why there is none. */
export type JsonAnswer = { ok: true; value: unknown; networkAddress: string } | { ok: false; reason: string }

export async function fetchJson(
  fetcher: PeerFetcher,
  url: string,
  maxBytes: number,
  signal?: AbortSignal,
): Promise<JsonAnswer> {
  const answer = await fetcher.fetch(url, {
    headers: { accept: 'application/json' },
    maxBytes,
    ...(signal === undefined ? {} : { signal }),
  })
  if (answer.status !== 'ok') return { ok: false, reason: answer.reason }
  if (answer.httpStatus !== 200) return { ok: false, reason: `http_${answer.httpStatus}` }
  try {
    return { ok: true, value: JSON.parse(Buffer.from(answer.bytes).toString('utf8')), networkAddress: answer.address }
  } catch {
    return { ok: false, reason: 'not_json' }
  }
}
