import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { onLoopback } from '../../packages/till/src/kernel/on-loopback.fixture.ts'

export type LocalSite = {
  port: number
  /** Path to body; a function answers by itself. */
  files: Map<string, string | ((request: IncomingMessage, response: ServerResponse) => void)>
  requests: { path: string; headers: IncomingMessage['headers'] }[]
  close(): Promise<void>
}

const typeOf = (path: string) =>
  path.endsWith('.json')
    ? 'application/json'
    : path.endsWith('.txt')
      ? 'text/plain'
      : path.endsWith('.xml')
        ? 'application/xml'
        : 'text/html; charset=utf-8'

/** A site on loopback whose files a test changes while it runs. */
export async function openLocalSite(files: Record<string, string> = {}): Promise<LocalSite> {
  const site: Omit<LocalSite, 'port' | 'close'> = { files: new Map(Object.entries(files)), requests: [] }
  const server = createServer((request, response) => {
    const path = (request.url ?? '/').split('?')[0] ?? '/'
    site.requests.push({ path, headers: request.headers })
    const file = site.files.get(path)
    if (typeof file === 'function') return file(request, response)
    response.statusCode = file === undefined ? 404 : 200
    response.setHeader('content-type', typeOf(path))
    response.end(file ?? 'no such page')
  })
  return { ...site, ...(await onLoopback(server)) }
}
