import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Outbound } from '../../../outbound/index.ts'
import { listenHttp, outboundFor } from '../../../outbound/outbound.fixture.ts'

export type Fault = number | 'cut' | 'html' | 'hang'

export type Publishers = {
  /** Bodies by address without scheme and query, such as `www.sec.gov/files/company_tickers_exchange.json`. */
  files: Map<string, Buffer | string>
  /** What an address does instead, once for each entry. */
  faults: Map<string, Fault[]>
  asked: { address: string; query: string; userAgent: string; atMs: number }[]
  /** The node's own way out, its names led to this server. */
  outbound: Outbound
  close(): Promise<void>
}

/** Plays the publishers over real HTTP: conditional requests, and each one's own word for a day without a file. */
export async function openPublishers(): Promise<Publishers> {
  const files = new Map<string, Buffer | string>()
  const faults = new Map<string, Fault[]>()
  const asked: Publishers['asked'] = []
  const server = await listenHttp((request, response) => {
    const { pathname, search } = new URL(request.url ?? '', 'http://127.0.0.1')
    const address = pathname.slice(1)
    asked.push({ address, query: search, userAgent: String(request.headers['user-agent']), atMs: Date.now() })
    const fault = faults.get(address)?.shift()
    if (fault !== undefined) return misbehave(fault, request, response)
    const body = files.get(address)
    if (body === undefined) return response.writeHead(address.startsWith('cdn.finra.org') ? 403 : 404).end()
    const etag = `"${createHash('sha256').update(body).digest('hex').slice(0, 16)}"`
    if (request.headers['if-none-match'] === etag) return response.writeHead(304, { etag }).end()
    return response.writeHead(200, { etag }).end(body)
  })
  const origin = `http://127.0.0.1:${server.port}`
  const real = outboundFor({ loopbackOrigins: [origin], userAgent: 'Assay/1.0.0 (ops@node.test)' })
  return {
    files,
    faults,
    asked,
    outbound: { fetch: (url, request) => real.fetch(url.replace(/^(https|ftp):\/\//, `${origin}/`), request) },
    close: () => server.close(),
  }
}

function misbehave(fault: Fault, request: IncomingMessage, response: ServerResponse): void {
  if (fault === 'hang') return
  if (fault === 'html') response.writeHead(200).end('<html>sorry, we are busy</html>')
  else if (fault === 'cut') {
    response.writeHead(200, { 'content-length': '1000' }).write('Date|Symbol')
    setImmediate(() => request.socket.destroy())
  } else response.writeHead(fault, { 'retry-after': '1' }).end(`you sent ${request.url}`)
}
