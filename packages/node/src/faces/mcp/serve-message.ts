import { tryCanonicalJson } from '@assay/protocol/canonical-json'
import { Problem } from '@assay/till/kernel/problem'
import { metaKeys } from '@assay/till/tools'
import {
  createMcpHandler,
  isLegacyRequest,
  type McpServerFactory,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'

/**
 * One message, or a batch of an earlier version: the protocol of 2026-07-28 where the message says so, the earlier one
 * otherwise. Always one JSON answer; there is nothing to subscribe to.
 */
export async function serveMessage(
  factory: McpServerFactory,
  url: string,
  headers: ReadonlyMap<string, string>,
  body: unknown,
): Promise<Response> {
  const request = new Request(url, { method: 'POST', headers: protocolHeaders(headers) })
  const parsedBody = Array.isArray(body) ? body.map(withCredential) : withCredential(body)
  if (!(await isLegacyRequest(request, parsedBody)))
    return createMcpHandler(factory, { legacy: 'reject', maxSubscriptions: 0 }).fetch(request, { parsedBody })
  const server = await factory({ era: 'legacy', requestInfo: request })
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  await server.connect(transport)
  try {
    return await transport.handleRequest(request, { parsedBody })
  } finally {
    await server.close()
  }
}

function protocolHeaders(headers: ReadonlyMap<string, string>): [string, string][] {
  return [
    ['content-type', 'application/json'],
    // Whatever a simple client accepts, the answer is JSON; the transport wants to hear both.
    ['accept', 'application/json, text/event-stream'],
    ...[...headers].filter(([name]) => name.startsWith('mcp-')),
  ]
}

type Fields = Record<string, unknown>

/** The Payment scheme also writes a credential at the root of a message. Two that differ leave open which was meant. */
function withCredential(message: unknown): unknown {
  const { _meta: rootMeta, ...rest } = message as { _meta?: Fields; params?: Fields & { _meta?: Fields } }
  const credential = rootMeta?.[metaKeys.credential]
  if (credential === undefined) return message
  const { params } = rest
  const inParams = params?._meta?.[metaKeys.credential]
  if (inParams !== undefined && tryCanonicalJson(inParams) !== tryCanonicalJson(credential))
    throw new Problem('payment_malformed', { detail: 'The credentials in `_meta` and in `params._meta` differ.' })
  return { ...rest, params: { ...params, _meta: { ...params?._meta, [metaKeys.credential]: credential } } }
}
