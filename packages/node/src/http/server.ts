import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { readWholeBody } from '@assay/till/adapters/read-node-body'
import type { Log } from '@assay/till/kernel/log'
import { Problem, problemBody } from '@assay/till/kernel/problem'
import { headerBytesMax, type PlainRequest, type PlainResponse } from '@assay/till/selling'
import { type Acceptors, openAcceptors, openInheritedAcceptors, type SocketHandle } from './acceptors.ts'
import type { SharedAnswers } from './shared-answers.ts'
import { writeResponse } from './write-response.ts'
import { writeShared } from './write-shared.ts'

export type ListenOptions = {
  /** 0 picks a free one. */
  port: number
  host: string
  connectionsMax?: number
  /** Open connections one address may hold; default: unlimited, as behind a proxy all come from one. */
  connectionsPerAddressMax?: number
  /** How many connections are taken per turn of the loop; see acceptors.ts. */
  acceptors?: number
  /** Descriptors of a socket that another process bound at `port`: connections are accepted once there is an app. */
  handles?: readonly SocketHandle[]
  /** Time to send all headers; a slow drip is cut then. */
  headersTimeoutMs?: number
  /** How long a connection is kept for the next request. */
  keepAliveMs?: number
}

/** What the listener passes requests to. */
export type ListenerTarget = {
  shared: SharedAnswers['find']
  handle(request: PlainRequest): Promise<PlainResponse>
  /** What is answered where not even a path could be read. */
  refuse(problem: Problem): PlainResponse
}

export type Listener = {
  url: string
  port: number
  /**
   * Begins to answer. Before, nobody is let in, so that a proxy goes to the next process; only where a free port had to be
   * found first do requests arrive earlier, and are asked to retry later.
   */
  serve(app: ListenerTarget): Promise<void>
  /** Stops accepting, lets requests in flight end, then closes. */
  drain(): Promise<void>
}

const drainMsMax = 25_000
/** Who comes while all acceptors are full waits here; past it the system breaks connections. It may allow less. */
const backlog = 4_096

/** The only file that knows node:http. */
export async function openListener(options: ListenOptions & { log: Log }): Promise<Listener> {
  let app: ListenerTarget | undefined
  const draining = new AbortController()
  const server = createServer({
    maxHeaderSize: headerBytesMax,
    headersTimeout: options.headersTimeoutMs ?? 10_000,
    requestTimeout: 30_000,
    keepAliveTimeout: options.keepAliveMs ?? 20_000,
    connectionsCheckingInterval: 1_000,
    // A request without Host is answered by our own authority check, in our own shape.
    requireHostHeader: false,
  })
  // By default node:http drops lines after the first thousand or so without a word: what is dropped cannot be checked.
  // All that fit into maxHeaderSize are read here, and too many are refused by readHeaders.
  server.maxHeadersCount = 0
  server.on('request', (request, response) => {
    if (app) answerOver(app, request, response, draining.signal, options.log)
    else writeBare(response, new Problem('not_ready', { retryAfterSeconds: 1 }))
  })
  server.on('checkContinue', (request, response) => server.emit('request', request, response))
  server.on('checkExpectation', (_request, response) =>
    writeBare(response, new Problem('bad_request', { detail: 'Only Expect: 100-continue is understood.' })),
  )
  server.on('clientError', (error: NodeJS.ErrnoException, stream) => {
    const socket = stream as Socket
    if (error.code !== 'ERR_HTTP_REQUEST_TIMEOUT' || socket.bytesRead > 0) return refuseUnreadable(app, error, socket)
    // A process that was frozen finds the time of a connection over before it has read what came meanwhile. The first byte
    // starts the time again.
    setImmediate(() => {
      if (socket.bytesRead === 0) refuseUnreadable(app, error, socket)
    })
  })
  server.on('timeout', (socket) => {
    const { bytesRead } = socket
    setImmediate(() => {
      if (socket.bytesRead === bytesRead) socket.destroy()
    })
  })
  capConnections(server, options)
  let acceptors: Acceptors | undefined
  const accept = async () => {
    await listen(server, options)
    acceptors = openAcceptors(server, (options.acceptors ?? 1) - 1, backlog)
  }
  if (!options.handles) await (options.port === 0 ? accept() : checkFree(options))
  const port = (server.address() as AddressInfo | null)?.port ?? options.port
  const host = options.host.includes(':') ? `[${options.host}]` : options.host
  return {
    url: `http://${host}:${port}`,
    port,
    serve: async (given) => {
      app = given
      if (acceptors || draining.signal.aborted) return
      if (!options.handles) return accept()
      server.on('error', (error) => logRefusedConnection(options.log, error))
      acceptors = openInheritedAcceptors(server, options.handles, backlog)
    },
    drain: () => drain(server, acceptors, draining),
  }
}

/** A port that is taken is reported before anything else is opened. */
async function checkFree(options: ListenOptions & { log: Log }): Promise<void> {
  const server = createServer()
  await listen(server, options)
  await new Promise((resolve) => server.close(resolve))
}

function listen(server: Server, { port, host, log }: ListenOptions & { log: Log }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ port, host, backlog }, () => {
      server.off('error', reject)
      server.on('error', (error) => logRefusedConnection(log, error))
      resolve()
    })
  })
}

/** A connection that could not be taken, for want of memory for instance, is no reason to end the node. */
const logRefusedConnection = (log: Log, error: Error) =>
  log.warn({ error: error.message }, 'a connection could not be taken')

function answerOver(
  app: ListenerTarget,
  request: IncomingMessage,
  response: ServerResponse,
  draining: AbortSignal,
  log: Log,
): void {
  const { method = '', url = '', rawHeaders, socket } = request
  // No closures before this point: most requests of a busy node end here.
  const shared = draining.aborted ? undefined : app.shared(method, url, rawHeaders, socket.remoteAddress ?? '')
  if (shared !== undefined) {
    writeShared(response, shared)
    return
  }
  const connection = controllerOf(socket)
  app
    .handle(toPlain(request, response, connection))
    .then((plain) => writeResponse(request, response, plain, { draining, close: connection.signal.aborted }))
    .catch((error: unknown) => {
      log.error({ error }, 'a response could not be made')
      if (response.headersSent) response.destroy()
      else writeBare(response, new Problem('internal'))
    })
}

const connections = new WeakMap<Socket, AbortController>()

/** One controller per connection: making one per request would cost a fifth of a small request. */
function controllerOf(socket: Socket): AbortController {
  const known = connections.get(socket)
  if (known) return known
  const controller = new AbortController()
  socket.once('close', () => controller.abort())
  connections.set(socket, controller)
  return controller
}

function toPlain(request: IncomingMessage, response: ServerResponse, connection: AbortController): PlainRequest {
  return {
    method: request.method ?? '',
    target: request.url ?? '',
    rawHeaders: request.rawHeaders,
    remoteAddress: request.socket.remoteAddress ?? '',
    readBody(maxBytes) {
      return readWholeBody(request, response, maxBytes)
    },
    connection: connection.signal,
    ownSignal() {
      const own = new AbortController()
      // It may have closed while the request was still being read and priced: no event would tell of it any more.
      if (request.socket.destroyed) own.abort()
      response.once('close', () => {
        if (!response.writableFinished) own.abort()
      })
      return own.signal
    },
    abort(reason) {
      connection.abort(reason)
    },
  }
}

/** A problem without signature, for what happens before there is an app and for our own failures. */
function bareProblem(problem: Problem): PlainResponse {
  const body = JSON.stringify(problemBody(problem, ''))
  const headers = [
    ...['Content-Type', 'application/problem+json', 'Content-Length', String(Buffer.byteLength(body))],
    ...['Cache-Control', 'no-store', 'X-x402-Next', '/'],
    ...(problem.status === 503 ? ['Retry-After', '1'] : []),
  ]
  return { status: problem.status, headers, body }
}

function writeBare(response: ServerResponse, problem: Problem): void {
  const { status, headers, body } = bareProblem(problem)
  response.writeHead(status, [...headers, 'Connection', 'close'])
  response.end(body)
}

/** What the parser of node:http says: its reasons are fixed sentences, nothing of the request is in them. */
type ParseError = NodeJS.ErrnoException & { reason?: string }

function whyUnreadable({ code, reason }: ParseError): string {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'The request did not arrive whole in time.'
  return reason === undefined ? 'The request could not be read.' : `The request could not be read: ${reason}.`
}

function refuseUnreadable(app: ListenerTarget | undefined, error: ParseError, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable || socket.destroyed) {
    socket.destroy()
    return
  }
  const code = error.code === 'HPE_HEADER_OVERFLOW' ? 'headers_too_large' : 'bad_request'
  const problem = new Problem(code, code === 'bad_request' ? { detail: whyUnreadable(error) } : {})
  const { status, headers, body } = app?.refuse(problem) ?? bareProblem(problem)
  const lines = Array.from(
    { length: headers.length / 2 },
    (_, index) => `${headers[2 * index]}: ${headers[2 * index + 1]}`,
  )
  const head = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`, ...lines, 'Connection: close']
  socket.end(`${head.join('\r\n')}\r\n\r\n${String(body)}`, () => socket.destroy())
}

function capConnections(server: Server, { connectionsMax = 12_000, connectionsPerAddressMax }: ListenOptions): void {
  const perAddressMax = connectionsPerAddressMax ?? Number.POSITIVE_INFINITY
  const open = new Map<string, number>()
  let all = 0
  server.on('connection', (socket) => {
    const address = socket.remoteAddress ?? ''
    const count = (open.get(address) ?? 0) + 1
    if (all >= connectionsMax || count > perAddressMax) {
      socket.destroy()
      return
    }
    all += 1
    open.set(address, count)
    socket.once('close', () => {
      all -= 1
      const left = (open.get(address) ?? 1) - 1
      if (left > 0) open.set(address, left)
      else open.delete(address)
    })
  })
}

async function drain(server: Server, acceptors: Acceptors | undefined, draining: AbortController): Promise<void> {
  const force = setTimeout(() => server.closeAllConnections(), drainMsMax)
  // A connection whose last answer was under way becomes idle only now, and would stay open for seconds.
  const idle = setInterval(() => server.closeIdleConnections(), 50)
  const ended = Promise.all([new Promise((resolve) => server.close(resolve)), acceptors?.close()])
  draining.abort()
  server.closeIdleConnections()
  await ended
  clearTimeout(force)
  clearInterval(idle)
}
