import type { BoundRequest } from '../contract/paid-call.ts'

/** A request as the HTTP app sees it: no framework, no socket, nothing decoded. */
export type PlainRequest = {
  method: string
  /** The request target exactly as it was received. */
  target: string
  /** Alternating names and values, as received. */
  rawHeaders: readonly string[]
  remoteAddress: string
  /** Reads the whole body; rejects with `body_too_large` before more than `maxBytes` are held in memory. */
  readBody(maxBytes: number): Promise<Uint8Array>
  /** Aborted when the connection closes; shared by the requests of one connection, so it costs nothing. */
  connection: AbortSignal
  /** Aborted when the caller goes before this answer was written whole. Made on demand. */
  ownSignal(): AbortSignal
  /** Aborts the connection: work for it is stopped, and it closes after the answer. */
  abort(reason: unknown): void
  /** For a call that arrived by another transport, such as MCP: what payments for it are bound to. */
  bound?: BoundRequest
}

export type PlainResponse = {
  status: number
  /** Alternating names and values, ready to be written. */
  headers: string[]
  body: Uint8Array | string | AsyncIterable<Uint8Array | string>
  /** To be called once the last byte has been handed to the socket, and never when the socket died before. */
  delivered?: () => void | Promise<void>
  /** The value of WWW-Authenticate, to be made each time the response is written: no two callers get the same. */
  authenticate?: () => string
}

export const emptyBody: Uint8Array = Buffer.alloc(0)

export function isStream(body: PlainResponse['body']): body is AsyncIterable<Uint8Array | string> {
  return typeof body !== 'string' && !(body instanceof Uint8Array)
}

/** No name comes twice. */
export function headersOf({ headers }: PlainResponse): Record<string, string> {
  const named: Record<string, string> = {}
  for (let i = 0; i + 1 < headers.length; i += 2) named[headers[i] as string] = headers[i + 1] as string
  return named
}
