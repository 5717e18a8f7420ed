import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Locate, Outbound } from './outcome.ts'

export type BrowserProxy = {
  /** For `--proxy-server`. */
  address: string
  /** What left through it, and what was refused. */
  seen(): { asked: number; refused: number; bytes: number }
  close(): Promise<void>
}

export type BrowserProxyLimits = { bytesMax: number; requestsMax: number; totalMs: number }

/**
 * A proxy on loopback for a browser that renders one page: whatever the page asks for is vetted and resolved as our own
 * requests are, and connected to at the address that was checked. Over a limit nothing more is answered.
 */
export async function openBrowserProxy(
  outbound: Outbound & { locate: Locate },
  { bytesMax, requestsMax, totalMs }: BrowserProxyLimits,
): Promise<BrowserProxy> {
  const count = { asked: 0, refused: 0, bytes: 0 }
  const over = new AbortController()
  const sockets = new Set<Duplex>()
  const mayAsk = () => {
    count.asked += 1
    return count.asked <= requestsMax && count.bytes <= bytesMax && !over.signal.aborted
  }
  const refuse = () => {
    count.refused += 1
  }

  const plain = async (request: IncomingMessage, response: ServerResponse) => {
    // Only what a page is made of is asked for: nothing is sent on its behalf.
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    const answer =
      isRead && mayAsk()
        ? await outbound.fetch(request.url ?? '', {
            maxBytes: Math.max(1, bytesMax - count.bytes),
            totalMs,
            redirectsMax: 3,
            plainHttp: true,
            signal: over.signal,
          })
        : undefined
    if (answer?.status !== 'ok') {
      refuse()
      response.writeHead(403).end()
      return
    }
    count.bytes += answer.bytes.length
    const type = answer.headers.get('content-type')
    response.writeHead(answer.httpStatus, { ...(type === undefined ? {} : { 'content-type': type }) })
    response.end(answer.bytes)
  }

  const tunnel = async (request: IncomingMessage, client: Duplex) => {
    sockets.add(client)
    client.on('error', () => client.destroy())
    client.on('close', () => sockets.delete(client))
    const located = mayAsk() ? await outbound.locate(`https://${request.url}/`, over.signal) : undefined
    if (located?.status !== 'ok') {
      refuse()
      client.end('HTTP/1.1 403 Forbidden\r\n\r\n')
      return
    }
    const remote = connect({ host: located.address, port: located.port })
    sockets.add(remote)
    remote.on('connect', () => {
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n')
      client.pipe(remote)
    })
    remote.on('data', (piece: Buffer) => {
      count.bytes += piece.length
      if (count.bytes > bytesMax) remote.destroy()
      else client.write(piece)
    })
    remote.on('error', () => remote.destroy())
    remote.on('close', () => {
      sockets.delete(remote)
      client.destroy()
    })
    client.on('close', () => remote.destroy())
  }

  const server = createServer((request, response) => {
    plain(request, response).catch(() => response.destroy())
  })
  server.on('connect', (request: IncomingMessage, client: Duplex) => {
    tunnel(request, client).catch(() => client.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    address: `http://127.0.0.1:${port}`,
    seen: () => ({ ...count }),
    close: async () => {
      over.abort(new Error('the page is done'))
      for (const socket of sockets) socket.destroy()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
