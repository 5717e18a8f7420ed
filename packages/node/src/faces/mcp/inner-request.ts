import { originOf } from '@assay/till/documents'
import { Problem } from '@assay/till/kernel/problem'
import type { CallContext, PlainRequest, RouteDeclaration } from '@assay/till/selling'
import { paymentHeadersOf, type ToolRequest } from '@assay/till/tools'
import type { NodeSite } from '../../http/node-site.ts'

/** Who calls a tool, and the app that the call goes through. */
export type Caller = {
  address: string
  signal: AbortSignal
  requestId: string
  dispatch: NonNullable<CallContext['dispatch']>
}

/** What a call is for, and what came with it in `_meta`. */
export type InnerCall = { request: ToolRequest; bound: NonNullable<PlainRequest['bound']>; meta: unknown }

/**
 * A tool call goes through the HTTP app like any other request, so that limits, the gate, validation and signing are
 * the same for it. It comes from the address of the party that called the tool.
 */
export function innerRequest(
  site: NodeSite,
  route: RouteDeclaration,
  { request, bound, meta }: InnerCall,
  caller: Caller,
): PlainRequest {
  const { body } = request
  const headers = [
    ['host', new URL(originOf(site, route)).host],
    ['accept', request.accept],
    ['x-request-id', caller.requestId],
    ['x-forwarded-for', caller.address],
    ...(body
      ? [
          ['content-type', 'application/json'],
          ['content-length', String(body.byteLength)],
        ]
      : []),
    ...paymentHeadersOf(meta),
  ]
  return {
    method: request.method,
    target: request.target,
    rawHeaders: headers.flat() as string[],
    remoteAddress: caller.address,
    readBody: async (maxBytes) => {
      if (!body) return new Uint8Array()
      if (body.byteLength > maxBytes) throw new Problem('body_too_large', { extra: { max_bytes: maxBytes } })
      return body
    },
    connection: caller.signal,
    ownSignal: () => caller.signal,
    abort: () => {},
    bound,
  }
}
