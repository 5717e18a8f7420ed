import type { IncomingMessage, ServerResponse } from 'node:http'
import { planDemo } from '../../packages/node/src/shops/matrix/demo/plan.ts'
import { sources } from '../../packages/node/src/shops/matrix/sources/catalogue.ts'
import { hosts } from './names.ts'

/** How many securities the files describe. */
const symbols = 300

/** Files of the publishers at the addresses where the node looks for them, in the official formats. */
export function openPublishers(nowMs: number) {
  const planned = planDemo(nowMs, { symbols, tradingDays: 22 })
  const made = new Map<string, Buffer>()
  const due = new Map(
    sources.flatMap((source) => source.schedule.due(nowMs).map((file) => [file.url, { source: source.id, ...file }])),
  )
  let open = true
  let asked = 0

  /** The planned file of this name; a publisher whose file is another day's has not published it. */
  const fileAt = (url: string): Buffer | undefined => {
    const wanted = due.get(url)
    if (!wanted) return undefined
    const known = made.get(wanted.name)
    if (known) return known
    for (const plan of planned.filter(({ source }) => source === wanted.source)) {
      const file = plan.make()
      made.set(file.name, file.bytes)
      if (file.name === wanted.name) return file.bytes
    }
    return undefined
  }
  return {
    has: (host: string) => (hosts.publishers as readonly string[]).includes(host),
    open: (is: boolean) => {
      open = is
    },
    asked: () => asked,
    answer: (host: string, request: IncomingMessage, response: ServerResponse) => {
      asked += 1
      // The SEC refuses callers that do not say who they are.
      if (!/@/.test(request.headers['user-agent'] ?? '')) return void response.writeHead(403).end('Undeclared tool')
      const bytes = open ? fileAt(`https://${host}${request.url}`) : undefined
      if (!bytes) return void response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Not Found</h1>')
      response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': bytes.length }).end(bytes)
    },
  }
}
