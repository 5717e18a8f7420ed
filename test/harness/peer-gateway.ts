import { createServer, request } from 'node:http'
import { didWeb } from '../../packages/protocol/src/did.ts'
import { onLoopback } from '../../packages/till/src/kernel/on-loopback.fixture.ts'

/** The public address of a node that starts later, in another process; what passes through it can be changed. */
export type PeerGateway = {
  url: string
  did: string
  /** Requests go to this node from now on; without one they are refused. */
  leadTo(address: string | undefined): void
  /** Answers at a path are changed from now on. */
  change(path: string, by: (body: string) => string): void
  changedCount(): number
  close(): Promise<void>
}

export async function openPeerGateway(): Promise<PeerGateway> {
  let target: string | undefined
  let changed = 0
  let rule: { path: string; by: (body: string) => string } | undefined
  const server = createServer((incoming, outgoing) => {
    const gone = () => void outgoing.destroy()
    if (target === undefined) return gone()
    const { method, headers, url = '/' } = incoming
    const passed = request(`${target}${url}`, { method, headers: { ...headers, 'accept-encoding': 'identity' } })
    passed.on('error', gone)
    passed.on('response', async (answer) => {
      const chunks: Buffer[] = []
      for await (const chunk of answer) chunks.push(chunk as Buffer)
      let body = Buffer.concat(chunks)
      if (rule !== undefined && url.startsWith(rule.path)) {
        body = Buffer.from(rule.by(body.toString('utf8')))
        changed += 1
      }
      const { 'transfer-encoding': _, ...kept } = answer.headers
      outgoing.writeHead(answer.statusCode ?? 502, { ...kept, 'content-length': String(body.length) }).end(body)
    })
    incoming.pipe(passed)
  })
  const { url, close } = await onLoopback(server)
  return {
    url,
    did: didWeb(new URL(url).host),
    leadTo: (address) => {
      target = address
    },
    change: (path, by) => {
      rule = { path, by }
    },
    changedCount: () => changed,
    close,
  }
}
