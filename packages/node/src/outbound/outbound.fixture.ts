import { createServer, type RequestListener } from 'node:http'
import { createServer as createTcp, type Server, type Socket } from 'node:net'
import { type Clock, systemClock } from '@assay/till/kernel/clock'
import { silentLog } from '@assay/till/kernel/log'
import { silentMetrics } from '@assay/till/kernel/metrics'
import { onLoopback } from '@assay/till/kernel/on-loopback.fixture'
import { createOutbound, type OutboundOptions, type OutboundRequest, type Resolver } from './index.ts'

export type Listening = { port: number; connections: number; close(): Promise<void> }

/** Any bytes for any connection, counted: what must not be reached shows whether it was. */
export async function listenTcp(onSocket: (socket: Socket) => void): Promise<Listening> {
  return counted(
    createTcp((socket) => {
      socket.on('error', () => {})
      onSocket(socket)
    }),
  )
}

export const listenHttp = (handler: RequestListener): Promise<Listening> => counted(createServer(handler))

async function counted(server: Server): Promise<Listening> {
  const state = { connections: 0 }
  server.on('connection', () => {
    state.connections += 1
  })
  return Object.assign(state, await onLoopback(server))
}

/** Answers from a table; a name that is not in it does not exist. */
export function tableResolver(
  table: Record<string, readonly string[] | (() => readonly string[])>,
): Resolver & { asked: string[] } {
  const asked: string[] = []
  const empty = { status: 'ok' as const, records: [], authenticated: false, ttlSeconds: 0 }
  return {
    name: 'table',
    asked,
    addresses: async (host) => {
      asked.push(host)
      const found = table[host] ?? []
      return { status: 'ok', addresses: typeof found === 'function' ? found() : found }
    },
    txt: async () => empty,
    caa: async () => empty,
    srv: async () => empty,
  }
}

export function outboundFor(given: Partial<OutboundOptions> & { clock?: Clock } = {}) {
  return createOutbound({
    resolvers: [],
    clock: systemClock,
    log: silentLog,
    metrics: silentMetrics,
    userAgent: 'AssayBot/1.0 (+https://node.example)',
    mode: 'demo',
    ...given,
  })
}

export const ordinary: OutboundRequest = { maxBytes: 5 * 1024 * 1024, totalMs: 10_000, redirectsMax: 3 }
