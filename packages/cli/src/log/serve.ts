import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Answer = {
  status: number
  contentType: string
  body: string | Uint8Array
  headers?: Record<string, string>
}
export type Place = { host: string; port: number }

/** Serves these answers until it is closed. `url` is where, once it listens. */
export async function serve(
  { host, port }: Place,
  answer: (request: IncomingMessage) => Promise<Answer>,
): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 5_000 }, (request, response) => {
    answer(request).then(
      ({ status, contentType, body, headers }) => {
        // What is left of a body that was too large is not waited for.
        if (status === 413) response.setHeader('connection', 'close')
        response.writeHead(status, { 'content-type': contentType, ...headers })
        response.end(request.method === 'HEAD' ? undefined : body)
      },
      () => response.writeHead(500).end(),
    )
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const name = host.includes(':') ? `[${host}]` : host
  return {
    url: `http://${name}:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeIdleConnections()
      }),
  }
}
