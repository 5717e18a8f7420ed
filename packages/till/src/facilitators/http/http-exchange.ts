import { type ClientRequest, request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'

export type HttpExchangeRequest = {
  method: 'GET' | 'POST'
  url: string
  headers: Record<string, string>
  body?: string
  /** For all of it, from the first packet to the last byte. */
  timeoutMs: number
  bodyBytesMax: number
  signal: AbortSignal
}

export type HttpExchangeResult =
  | { status: 'answered'; code: number; body: string }
  /** No connection came about, so nothing can have been received. */
  | { status: 'not_sent'; reason: string }
  | { status: 'no_answer'; reason: string }

/** One request, one answer. A redirect is an answer like any other: it is never followed. */
export type HttpExchange = (request: HttpExchangeRequest) => Promise<HttpExchangeResult>

/** A connection takes less than this, or none will come. */
const connectMs = 3_000

/**
 * What fails while a new connection is being made: until it is there, and secured, nothing is written to it. Not among
 * these: a certificate that is not good, which shows at the very moment from which on something may be written.
 */
const beforeSending = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'ETIMEDOUT',
])

export const nodeHttpExchange: HttpExchange = async (request) => {
  // Not `AbortSignal.any` with `AbortSignal.timeout`: in Node 20 a limit that is only joined may be collected as garbage, and
  // then never comes.
  const over = new AbortController()
  const stop = () => over.abort()
  const timer = setTimeout(stop, request.timeoutMs)
  request.signal.addEventListener('abort', stop, { once: true })
  if (request.signal.aborted) stop()
  try {
    return await exchange(request, over.signal)
  } finally {
    clearTimeout(timer)
    request.signal.removeEventListener('abort', stop)
  }
}

const exchange = (request: HttpExchangeRequest, signal: AbortSignal): Promise<HttpExchangeResult> =>
  new Promise((resolve) => {
    const send = request.url.startsWith('https:') ? httpsRequest : httpRequest
    const headers = {
      ...request.headers,
      ...(request.body === undefined ? {} : { 'content-length': Buffer.byteLength(request.body) }),
    }
    const connection = { isThere: false, isLate: false }
    const outgoing = send(request.url, { method: request.method, headers, signal }, (incoming) => {
      const chunks: Buffer[] = []
      let size = 0
      incoming.on('data', (chunk: Buffer) => {
        size += chunk.byteLength
        chunks.push(chunk)
        if (size <= request.bodyBytesMax) return
        resolve({ status: 'no_answer', reason: 'the answer is too large' })
        outgoing.destroy()
      })
      incoming.on('end', () => {
        resolve({ status: 'answered', code: incoming.statusCode ?? 0, body: Buffer.concat(chunks).toString('utf8') })
      })
      incoming.on('error', () =>
        resolve({ status: 'no_answer', reason: failure(signal, request.signal, 'the answer broke off') }),
      )
    })
    outgoing.on('socket', (socket) => watchConnecting(outgoing, socket, connection))
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      const code = connection.isLate ? 'ETIMEDOUT' : (error.code ?? '')
      if (!signal.aborted && !connection.isThere && beforeSending.has(code))
        resolve({ status: 'not_sent', reason: code })
      else resolve({ status: 'no_answer', reason: failure(signal, request.signal, code || 'the connection failed') })
    })
    outgoing.end(request.body)
  })

function watchConnecting(outgoing: ClientRequest, socket: Socket, connection: { isThere: boolean; isLate: boolean }) {
  if (outgoing.reusedSocket || !socket.connecting) {
    connection.isThere = true
    return
  }
  const timer = setTimeout(() => {
    connection.isLate = true
    outgoing.destroy()
  }, connectMs)
  socket.once(socket instanceof TLSSocket ? 'secureConnect' : 'connect', () => {
    connection.isThere = true
    clearTimeout(timer)
  })
  socket.once('close', () => clearTimeout(timer))
}

function failure(any: AbortSignal, callers: AbortSignal, otherwise: string): string {
  if (callers.aborted) return 'aborted'
  return any.aborted ? 'timeout' : otherwise
}
