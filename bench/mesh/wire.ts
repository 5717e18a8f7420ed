import http from 'node:http'
import { onLoopback } from '../../packages/till/src/kernel/on-loopback.fixture.ts'

/** The public address of one node. What the others send passes here, so that a wire between two of them can be cut. */
export type Wire = {
  origin: string
  /** Where the node itself listens; undefined while it is down. */
  target: string | undefined
  /** The port at which the node has to listen by itself; undefined when any will do. */
  port?: number
  close(): Promise<void>
}

/** Says whether what one node sends to another gets through; undefined is anybody who is no node. */
export type Passes = (from: string | undefined, to: string) => boolean

const sender = /^AssayMesh\/1\.0 \(\+(http:\/\/[^;]+);/

export async function openWire(passes: Passes): Promise<Wire> {
  const server = http.createServer((request, response) => {
    const from = sender.exec(request.headers['user-agent'] ?? '')?.[1]
    // A cut wire says nothing, as in production: the other end has to notice by itself.
    if (!passes(from, wire.origin)) return
    if (wire.target === undefined) return void request.socket.destroy()
    const { hostname, port } = new URL(wire.target)
    const onward = http.request(
      { hostname, port, method: request.method, path: request.url, headers: request.headers, agent: false },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.rawHeaders)
        answer.pipe(response)
      },
    )
    onward.on('error', () => request.socket.destroy())
    response.on('close', () => onward.destroy())
    request.pipe(onward)
  })
  const { url, close } = await onLoopback(server)
  const wire: Wire = { origin: url, target: undefined, close }
  return wire
}

/** Below those that the system gives to connections: many are chosen before the first of them is used. */
let nextPort = 20_000 + (process.pid % 10_000)

/** An address at which the node listens itself: nothing can be cut, and nothing is passed on. */
export async function freeAddress(): Promise<Wire> {
  for (;;) {
    nextPort = nextPort === 32_000 ? 20_000 : nextPort + 1
    const server = http.createServer().listen(nextPort, '127.0.0.1')
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('listening', () => resolve(true)).once('error', () => resolve(false))
    })
    if (!isFree) continue
    await new Promise((resolve) => server.close(resolve))
    return { origin: `http://127.0.0.1:${nextPort}`, port: nextPort, target: undefined, close: async () => {} }
  }
}
