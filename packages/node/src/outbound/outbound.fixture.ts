import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, createServer as createTcp, type Socket } from 'node:net'
import { type Clock, systemClock } from '@assay/till/kernel/clock'
import { silentLog } from '@assay/till/kernel/log'
import { silentMetrics } from '@assay/till/kernel/metrics'
import { createOutbound, type OutboundOptions, type OutboundRequest, type Resolver } from './index.ts'

export type Listening = { port: number; connections: number; close(): Promise<void> }

/** Any bytes for any connection, counted: what must not be reached shows whether it was. */
export async function listenTcp(onSocket: (socket: Socket) => void): Promise<Listening> {
  const sockets = new Set<Socket>()
  const state = { connections: 0 }
  const server = createTcp((socket) => {
    state.connections += 1
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    onSocket(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return state.connections
    },
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy()
        server.close(() => resolve())
      }),
  }
}

export async function listenHttp(handler: RequestListener): Promise<Listening> {
  const state = { connections: 0 }
  const server = createServer(handler)
  server.on('connection', () => {
    state.connections += 1
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return state.connections
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
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
