import { createServer } from 'node:http'
import { type FolderStore, type LogState, serveMonitor } from '@assay/node/log-monitor'
import { listen } from './listen.ts'

/** GET only, of what the monitor has on disk and in memory. */
export async function openStatusServer(
  watched: () => readonly { state: LogState; store: FolderStore }[],
  place: { host: string; port: number },
  mirror: boolean,
): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 5_000 }, (request, response) => {
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return void response.writeHead(405, { allow: 'GET, HEAD' }).end()
    const path = (request.url ?? '/').split('?')[0] ?? '/'
    serveMonitor(path, watched(), { nowMs: Date.now(), mirror }).then(
      ({ status, contentType, body, headers }) => {
        response.writeHead(status, { 'content-type': contentType, ...headers })
        response.end(request.method === 'HEAD' ? undefined : body)
      },
      () => response.writeHead(500).end(),
    )
  })
  return {
    url: await listen(server, place),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
