import { type ChildProcess, fork } from 'node:child_process'
import type { Server as HttpServer } from 'node:http'
import { createServer, type Server } from 'node:net'
import { fileURLToPath } from 'node:url'

export type Acceptors = {
  /** Stops taking connections; resolves when those that were taken have ended. */
  close(): Promise<void>
}

const returner = fileURLToPath(new URL('./return-handles.mjs', import.meta.url))

/**
 * The runtime takes one connection from a listening socket per turn of its loop. A busy node has long turns, so new
 * connections would wait for seconds, unseen and without a 503, until the accept queue of the kernel is full and
 * connections fail. Every further descriptor of the same socket takes one more per turn. Only another process
 * can make one: it is lent the socket and gives it back.
 *
 * They are optional: startup does not wait for them, and the node works if they fail.
 */
export function openAcceptors(server: HttpServer, count: number, backlog: number): Acceptors {
  const acceptors: Server[] = []
  let answers = 0
  let closing = false
  const child = count > 0 ? lendHandle(server, count) : undefined
  const returned = child ? new Promise((resolve) => child.once('exit', resolve).once('error', resolve)) : undefined
  child?.on('message', (_message, handle) => {
    answers += 1
    if (answers === count) child.disconnect()
    if (handle === undefined) return
    // Left open it would accept connections that nothing reads.
    if (closing) return (handle as Server).close()
    acceptors.push(acceptFrom(handle as SocketHandle, server, backlog))
  })
  return {
    close: async () => {
      closing = true
      child?.kill('SIGKILL')
      // What it still holds would let callers in whom nobody answers.
      await Promise.all([returned, closeAll(acceptors)])
    },
  }
}

/** A descriptor of a listening socket, as another process sent it: it takes nothing until somebody listens on it. */
export type SocketHandle = { close(): void }

/** Takes connections from descriptors that this process was given. */
export function openInheritedAcceptors(
  server: HttpServer,
  [first, ...more]: readonly SocketHandle[],
  backlog: number,
): Acceptors {
  // The server itself must listen: only then does it watch slow and idle connections.
  server.listen({ _handle: first }, backlog)
  const acceptors = more.map((handle) => acceptFrom(handle, server, backlog))
  return { close: () => closeAll(acceptors) }
}

function acceptFrom(handle: SocketHandle, server: HttpServer, backlog: number): Server {
  // As the HTTP server itself does it with what it takes.
  const acceptor = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => server.emit('connection', socket))
  acceptor.on('error', () => {})
  // It is one socket: who listens on it without saying how many may wait cuts the queue of all down to the usual length.
  acceptor.listen({ _handle: handle }, backlog)
  return acceptor
}

async function closeAll(acceptors: readonly Server[]): Promise<void> {
  await Promise.all(acceptors.map((acceptor) => new Promise((resolve) => acceptor.close(resolve))))
}

/** Some failures to start a process are events, others are thrown: where it may not (EPERM) or memory is short. */
function lendHandle(server: HttpServer, count: number): ChildProcess | undefined {
  try {
    const child = fork(returner, { execArgv: [], env: {}, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
    child.on('error', () => {})
    // The bare handle: a process that is sent a server starts to take connections.
    const { _handle: bare } = server as unknown as { _handle: Server }
    for (let lent = 0; lent < count; lent += 1) child.send('', bare, () => {})
    child.unref()
    child.channel?.unref()
    return child
  } catch {
    return undefined
  }
}
