import { Problem } from '@assay/till/kernel/problem'
import { z } from 'zod'
import { defineRoute, type RouteDeclaration } from '../../http/index.ts'
import type { McpCatalogue, McpDeps } from './mcp-server.ts'

const message = z.looseObject({ jsonrpc: z.literal('2.0') })

/** The Model Context Protocol over HTTP: one request, one answer, no session, so that any process of the node can answer. */
export function mcpRoutes(deps: McpDeps): RouteDeclaration[] {
  const answer = answering(deps)
  const route = {
    area: 'core' as const,
    path: '/mcp',
    output: z.record(z.string(), z.unknown()),
    next: '/llms.txt',
  }
  return [
    defineRoute({
      ...route,
      id: 'mcp.post',
      capability: 'mcp',
      method: 'POST',
      summary: 'The routes of this node as tools of the Model Context Protocol',
      description:
        'Streamable HTTP transport without sessions, versions 2026-07-28 and earlier. Tools name their price; a paid one is paid through _meta["x402/payment"] or _meta["org.paymentauth/credential"], and its receipt comes back in _meta.',
      body: z.union([message, z.array(message).min(1).max(20)]),
      example: {
        body: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
        output: { jsonrpc: '2.0', id: 1, result: { tools: [] } },
      },
      bodyBytesMax: 128 * 1024,
      access: {
        kind: 'free',
        handle: (input, call) => answer(input.body, call),
      },
    }),
    // Clients ask whether there is a stream or a session to end; there is neither, and they get the answer that MCP defines.
    ...(['GET', 'DELETE'] as const).map((method) =>
      defineRoute({
        ...route,
        id: `mcp.${method.toLowerCase()}`,
        method,
        summary: 'Not offered: this transport has neither a long-lived stream nor sessions',
        representations: ['application/json', 'text/event-stream'],
        example: { output: {} },
        hidden: true,
        access: {
          kind: 'free',
          handle: async () => {
            throw new Problem('method_not_allowed', { headers: { Allow: 'POST' } })
          },
        },
      }),
    ),
  ]
}

type Call = Parameters<Extract<RouteDeclaration['access'], { kind: 'free' }>['handle']>[1]

function answering(deps: McpDeps) {
  let catalogue: McpCatalogue | undefined
  return async (body: unknown, call: Call) => {
    // Loaded when first asked: a node that nobody speaks MCP to starts without it.
    const [{ createMcpServer, mcpCatalogue }, { serveMessage }] = await Promise.all([
      import('./mcp-server.ts'),
      import('./serve-message.ts'),
    ])
    catalogue ??= mcpCatalogue(deps)
    const known = catalogue
    const { dispatch } = call
    if (!dispatch) throw new Error('this app does not dispatch the calls of tools')
    const caller = { address: call.remoteAddress, signal: call.signal, requestId: call.requestId, dispatch }
    const response = await serveMessage(
      ({ era }) => createMcpServer(deps, known, caller, era),
      call.resourceUrl,
      call.headers,
      body,
    )
    return {
      status: response.status,
      contentType: 'application/json',
      body: new Uint8Array(await response.arrayBuffer()),
    }
  }
}
