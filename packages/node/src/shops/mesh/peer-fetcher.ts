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
  fetch(url: string, request: Omit<OutboundRequest, 'redirectsMax' | 'totalMs'>): Promise<OutboundOutcome>
}

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

export function createPeerFetcher(options: PeerFetcherOptions): PeerFetcher {
  const { mode, loopbackPorts, timeoutMs } = options
  const open = (loopbackOrigins: readonly string[]) =>
    createOutbound({
      ...options,
      ...(mode === 'demo' ? { loopbackHosts: options.demoHosts, loopbackOrigins } : {}),
    })
  const usual = open([])
  const local = new Map<string, Outbound>()
  // Each origin on this machine is allowed by name, and only in the range that was set.
  const outboundFor = (url: string): Outbound => {
    const origin = URL.canParse(url) ? new URL(url).origin : ''
    if (mode !== 'demo' || !isLoopbackAddress(origin)) return usual
    const port = Number(new URL(origin).port)
    if (loopbackPorts === undefined || port < loopbackPorts.from || port > loopbackPorts.to) return usual
    const known = local.get(origin)
    if (known) return known
    if (local.size >= loopbackOriginsMax) local.clear()
    const fresh = open([origin])
    local.set(origin, fresh)
    return fresh
  }
  const fetch: PeerFetcher['fetch'] = (url, request) =>
    outboundFor(url).fetch(url, { ...request, redirectsMax: 0, totalMs: timeoutMs })
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
