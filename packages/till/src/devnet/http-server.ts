import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readLimited } from '@assay/protocol/read-limited'
import type { RpcRequest } from './rpc.ts'
import { RpcError, rpcCodes } from './rpc-error.ts'

export type RpcServer = { url: string; stop(): Promise<void> }

const bodyBytesMax = 8 * 1024 * 1024
const batchMax = 1_000
const loopbackHost = /^(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/i
const loopbackOrigin = /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/i
const extensionOrigin = /^(chrome|moz|safari-web)-extension:\/\/[a-z0-9-]+$/i

/** JSON-RPC over HTTP, for wallets and tools on this machine and for no web page from elsewhere. */
export async function serveRpc(request: RpcRequest, listen: { host: string; port: number }): Promise<RpcServer> {
  // Longer than the pauses of a process that asks now and then: a connection closed under its question is a failed call.
  const server = createServer({ keepAliveTimeout: 60_000 }, (incoming, response) => {
    answer(request, incoming, response).catch(() => response.destroy())
  })
  await startListening(server, listen)
  const { port } = server.address() as AddressInfo
  const host = listen.host.includes(':') ? `[${listen.host}]` : listen.host
  return {
    url: `http://${host}:${port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function startListening(server: Server, { host, port }: { host: string; port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

async function answer(request: RpcRequest, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const origin = incoming.headers.origin
  // A page whose name was pointed at this machine shows itself by its Host, one from elsewhere by its Origin.
  if (!loopbackHost.test(incoming.headers.host ?? '')) return refuse(response, 403, 'not a name of this machine')
  if (origin !== undefined && !loopbackOrigin.test(origin) && !extensionOrigin.test(origin))
    return refuse(response, 403, 'pages from elsewhere may not use this chain')
  if (origin !== undefined) allowOrigin(response, origin)
  if (incoming.method === 'OPTIONS') {
    response.writeHead(204).end()
    return
  }
  if (incoming.method !== 'POST') {
    response.setHeader('allow', 'POST, OPTIONS')
    return refuse(response, 405, 'JSON-RPC is sent with POST')
  }
  const body = await readBody(incoming)
  if (body === undefined) {
    response.setHeader('connection', 'close')
    return refuse(response, 413, `at most ${bodyBytesMax} bytes`)
  }
  let message: unknown
  try {
    message = JSON.parse(body)
  } catch {
    return send(response, 400, errorAnswer(null, new RpcError(rpcCodes.parse, 'the body is not JSON')))
  }
  const answers = await answerMessage(request, message)
  if (answers === undefined) response.writeHead(204).end()
  else send(response, 200, answers)
}

/** One call or a batch; undefined when nothing of it wants an answer. */
export async function answerMessage(request: RpcRequest, message: unknown): Promise<unknown> {
  if (!Array.isArray(message)) return answerCall(request, message)
  if (message.length === 0 || message.length > batchMax)
    return errorAnswer(null, new RpcError(rpcCodes.invalidRequest, `a batch has 1 to ${batchMax} calls`))
  const answers = await Promise.all(message.map((call) => answerCall(request, call)))
  const wanted = answers.filter((one) => one !== undefined)
  return wanted.length === 0 ? undefined : wanted
}

async function answerCall(request: RpcRequest, call: unknown): Promise<unknown> {
  const { id, method, params = [] } = (typeof call === 'object' && call !== null ? call : {}) as Record<string, unknown>
  const answerId = typeof id === 'string' || typeof id === 'number' ? id : null
  if (typeof method !== 'string')
    return errorAnswer(answerId, new RpcError(rpcCodes.invalidRequest, 'not a JSON-RPC request'))
  if (!Array.isArray(params))
    return errorAnswer(answerId, new RpcError(rpcCodes.invalidParams, 'params must be an array'))
  try {
    const result = await request(method, params)
    return id === undefined ? undefined : { jsonrpc: '2.0', id: answerId, result: result ?? null }
  } catch (error) {
    return id === undefined ? undefined : errorAnswer(answerId, error)
  }
}

function errorAnswer(id: string | number | null, error: unknown) {
  const known = error instanceof RpcError ? error : new RpcError(rpcCodes.internal, 'internal error')
  const data = known.data === undefined ? {} : { data: known.data }
  return { jsonrpc: '2.0', id, error: { code: known.code, message: known.message, ...data } }
}

async function readBody(incoming: IncomingMessage): Promise<string | undefined> {
  const bytes = await readLimited(incoming, bodyBytesMax)
  return bytes === 'too_large' ? undefined : Buffer.from(bytes).toString('utf8')
}

function allowOrigin(response: ServerResponse, origin: string): void {
  response.setHeader('access-control-allow-origin', origin)
  response.setHeader('vary', 'origin')
  response.setHeader('access-control-allow-methods', 'POST, OPTIONS')
  response.setHeader('access-control-allow-headers', 'content-type')
  response.setHeader('access-control-max-age', '600')
}

function refuse(response: ServerResponse, status: number, message: string): void {
  send(response, status, errorAnswer(null, new RpcError(rpcCodes.invalidRequest, message)))
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
