import { readLimited } from '@assay/protocol/read-limited'
import { Problem } from '../kernel/problem.ts'
import { tooLarge } from './body-limit.ts'
import { emptyBody, headersOf, isStream, type PlainResponse } from './plain.ts'
import type { SoldRequest } from './sold-request.ts'

/** A request of the web standards, as frameworks on any runtime have it. */
export function fromWebRequest(
  request: Request,
  known: { params: Readonly<Record<string, string>>; remoteAddress?: string; clientGone?: () => AbortSignal },
): SoldRequest {
  const { path, query } = targetOf(request.url)
  return {
    method: request.method,
    path,
    query,
    params: known.params,
    header: (name) => request.headers.get(name) ?? undefined,
    get headers() {
      return receivedHeaders(request)
    },
    remoteAddress: known.remoteAddress ?? '',
    readBody: (maxBytes) => readWebBody(request, maxBytes),
    clientGone: known.clientGone ?? (() => new AbortController().signal),
  }
}

/** Path and query of an absolute URL, as written. */
export function targetOf(url: string): { path: string; query: string } {
  const start = url.indexOf('/', url.indexOf('://') + 3)
  const end = url.indexOf('#')
  const target = start < 0 ? '/' : url.slice(start, end < 0 ? undefined : end)
  const mark = target.indexOf('?')
  return mark < 0 ? { path: target, query: '?' } : { path: target.slice(0, mark), query: target.slice(mark) }
}

function receivedHeaders(request: Request): Map<string, string> {
  const headers = new Map<string, string>()
  request.headers.forEach((value, name) => {
    headers.set(name, value)
  })
  // Behind the fetch interface a body may come without its length.
  if (request.body && !headers.has('content-length')) headers.set('transfer-encoding', 'chunked')
  return headers
}

async function readWebBody(request: Request, maxBytes: number): Promise<Uint8Array> {
  if (request.bodyUsed)
    throw new Problem('internal', {
      detail: 'The body was read before the till: leave it to the sold route, which checks it by its schema.',
    })
  if (!request.body) return emptyBody
  const bytes = await readLimited(request.body, maxBytes)
  if (bytes === 'too_large') throw tooLarge(maxBytes)
  return bytes
}

const bodiless = new Set([204, 205, 304])

export function toWebResponse(plain: PlainResponse): Response {
  if (isStream(plain.body)) throw new Error('a sold answer is finite')
  const empty = bodiless.has(plain.status) || plain.body.length === 0
  return new Response(empty ? null : (plain.body as string | Uint8Array<ArrayBuffer>), {
    status: plain.status,
    // A plain object: some runtimes write it out without making a Headers of it.
    headers: headersOf(plain),
  })
}
