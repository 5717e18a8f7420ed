import type { IncomingMessage, ServerResponse } from 'node:http'
import { Problem } from '../kernel/problem.ts'
import {
  headersOf,
  type PlainResponse,
  readHeaders,
  type SoldRequest,
  splitTarget,
  tooLarge,
} from '../selling/index.ts'
import type { SoldRoute } from '../till.ts'
import { readWholeBody } from './read-node-body.ts'

/** What frameworks on node:http add to a request. */
export type NodeRequest = IncomingMessage & { rawBody?: unknown }

export type NodeCall = {
  params: Readonly<Record<string, string>>
  /** The target as it was received, before a framework cut its mount path off. */
  target: string
  /** What to change when the body was read before the till saw it. */
  bodyErrorHint: string
}

/** One exchange on node:http: the socket shows who hangs up, and when the last byte was handed over. */
export function answerOver(
  route: SoldRoute,
  request: NodeRequest,
  response: ServerResponse,
  call: NodeCall,
): void | Promise<void> {
  // Somebody answered already: nobody would get what is sold here.
  if (response.headersSent) return
  const sold = soldRequestOf(request, response, call)
  if (sold instanceof Problem) return refuse(response, sold)
  const answer = route.answer(sold)
  if (!(answer instanceof Promise)) return write(request, response, sold, answer)
  return answer.then((later) => write(request, response, sold, later))
}

export function soldRequestOf(request: NodeRequest, response: ServerResponse, call: NodeCall): SoldRequest | Problem {
  const target = splitTarget(call.target)
  if (!target) return new Problem('bad_request', { detail: 'The request target is not a plain path.' })
  try {
    const headers = readHeaders(request.rawHeaders)
    // No spread: the object it makes is slow to read, and an unpaid request does little else.
    return {
      method: request.method ?? '',
      path: target.path,
      query: target.query,
      params: call.params,
      header: (name) => headers.get(name),
      headers,
      remoteAddress: request.socket.remoteAddress ?? '',
      readBody: (maxBytes) => readBody(request, response, maxBytes, call.bodyErrorHint),
      clientGone: () => goneSignal(response),
    }
  } catch (error) {
    if (error instanceof Problem) return error
    throw error
  }
}

async function readBody(
  request: NodeRequest,
  response: ServerResponse,
  maxBytes: number,
  bodyErrorHint: string,
): Promise<Uint8Array> {
  const { rawBody } = request
  if (rawBody instanceof Uint8Array || typeof rawBody === 'string') {
    const bytes = Buffer.from(rawBody as string)
    if (bytes.byteLength > maxBytes) throw tooLarge(maxBytes)
    return bytes
  }
  if (request.readableDidRead || request.readableEnded)
    throw new Problem('internal', {
      detail: `The body was parsed before the till and its bytes are gone: ${bodyErrorHint}`,
    })
  return readWholeBody(request, response, maxBytes)
}

const answered = new WeakSet<ServerResponse>()

/** The till's own answer is written from here on: its end is no sign that somebody else answered. */
export function markAnswered(response: ServerResponse): void {
  answered.add(response)
}

/** Aborted when the caller goes before the answer was written whole, or is answered by somebody else, such as a timeout. */
function goneSignal(response: ServerResponse): AbortSignal {
  const gone = new AbortController()
  if (response.socket?.destroyed || response.headersSent) gone.abort()
  response.once('close', () => {
    if (!response.writableFinished) gone.abort()
  })
  response.once('finish', () => {
    if (!answered.has(response)) gone.abort()
  })
  return gone.signal
}

/** Past the framework's own response: no ETag, no 304, no compression, no rewriting of what was signed. */
function write(request: NodeRequest, response: ServerResponse, sold: SoldRequest, plain: PlainResponse): void {
  if (response.socket?.destroyed || response.headersSent) return
  markAnswered(response)
  closeAfterRefusal(request, sold, plain)
  const { delivered } = plain
  if (delivered)
    response.once('finish', () => {
      if (!response.socket?.destroyed) void delivered()
    })
  response.writeHead(plain.status, headersOf(plain)).end(plain.body as string | Uint8Array)
}

/** What is left of a refused body is never read: neither by the till nor by a framework that would keep the connection. */
export function closeAfterRefusal(request: NodeRequest, sold: SoldRequest, plain: PlainResponse): void {
  if (plain.status >= 400 && hasBody(sold) && !request.complete && request.httpVersionMajor < 2)
    plain.headers.push('Connection', 'close')
}

/** An answer that is ready at once is written before the parser says that a request without a body is complete. */
const hasBody = ({ headers }: SoldRequest) =>
  headers.has('transfer-encoding') || Number(headers.get('content-length') ?? 0) > 0

function refuse(response: ServerResponse, problem: Problem): void {
  response.statusCode = problem.status
  response.setHeader('Content-Type', 'application/problem+json')
  response.end(refusalBody(problem))
}

/** A request that cannot be read names no route whose signature it could get. */
export const refusalBody = (problem: Problem): string =>
  JSON.stringify({ title: problem.kind.title, status: problem.status, code: problem.code })
