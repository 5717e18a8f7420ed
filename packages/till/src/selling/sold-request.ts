import type { BoundRequest } from '../contract/paid-call.ts'

/** A request to one route, as an adapter hands it over: already routed, nothing else decoded. */
export type SoldRequest = {
  method: string
  /** The path as its sender wrote it, undecoded. */
  path: string
  /** With its leading `?`; "?" alone when there is none (RFC 9421, 2.2.7). */
  query: string
  /** Values of the parameters of the path, decoded. */
  params: Readonly<Record<string, string>>
  /** One header by its lower-cased name, for a first check. */
  header(name: string): string | undefined
  /** All of them, lower-cased names. Made on demand. */
  headers: ReadonlyMap<string, string>
  remoteAddress: string
  /** Reads the whole body; rejects with `body_too_large` before more than `maxBytes` are held in memory. */
  readBody(maxBytes: number): Promise<Uint8Array>
  /** Aborted when the caller goes before this answer was written whole. Made on demand. */
  clientGone(): AbortSignal
  /** For a call that arrived by another transport, such as MCP: what payments for it are bound to. */
  bound?: BoundRequest
}
