import { tryCanonicalJson } from '@assay/protocol/canonical-json'
import type { BoundRequest } from '../contract/paid-call.ts'
import { sha256 } from '../kernel/bytes.ts'
import { Problem } from '../kernel/problem.ts'

/**
 * What a payment for a tool call is bound to: the tool of this seller and its arguments, whatever accompanies them in
 * `_meta`. As a body this is the canonical JSON of `{"arguments":{…},"name":"…"}`. The address names its hash, for most
 * clients sign for an address and nothing else.
 */
export function bindToolCall(origin: string, name: string, given: unknown): BoundRequest {
  const bound = bindInput('tools/call', `mcp://${new URL(origin).host}/tools/${name}`, { name, arguments: given ?? {} })
  const hash = Buffer.from(bound.digest).toString('base64url')
  return { ...bound, resourceUrl: `${bound.resourceUrl}?input=${hash}` }
}

/** The same for a resource that is read over MCP: not the HTTP request to the same URL. */
export function bindResourceRead(uri: string): BoundRequest {
  const { host, pathname, search } = new URL(uri)
  return bindInput('resources/read', `mcp://${host}/resources${pathname}${search}`, { uri })
}

function bindInput(method: string, resourceUrl: string, input: unknown): BoundRequest {
  const text = tryCanonicalJson(input)
  if (text === undefined) throw new Problem('input_invalid', { detail: 'The arguments are not JSON.' })
  return { method, resourceUrl, contentType: 'application/json', digest: sha256(text) }
}
