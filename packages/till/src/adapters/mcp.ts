import { z } from 'zod'
import { asProblem, Problem } from '../kernel/problem.ts'
import { splitTarget } from '../selling/index.ts'
import type { Till } from '../till.ts'
import {
  bindToolCall,
  buildRequest,
  describeTools,
  paymentHeadersOf,
  problemResult,
  readAnswer,
  type Tool,
  type ToolRequest,
  type ToolResult,
  toolResult,
} from '../tools/index.ts'

const listSchema = z.object({ method: z.literal('tools/list') })
const callSchema = z.object({
  method: z.literal('tools/call'),
  params: z.object({
    name: z.string(),
    arguments: z.record(z.string(), z.unknown()).optional(),
    _meta: z.record(z.string(), z.unknown()).optional(),
  }),
})

/** The server of @modelcontextprotocol/sdk, with the capability `tools`. */
export type ToolServer = {
  // biome-ignore lint/suspicious/noExplicitAny: each handler has the shape of its schema
  setRequestHandler(schema: any, handler: (request: any) => Promise<any>): void
}

/**
 * Offers every sold route as a tool. A payment comes in `_meta`, of x402 or of the Payment scheme; hang-up and delivery are
 * not seen here.
 */
export function sellTools(server: ToolServer, till: Till): void {
  const tools = () => describeTools(till.sold().map(({ declaration }) => declaration))
  server.setRequestHandler(listSchema, async () => ({
    tools: tools().map(({ route: _route, places: _places, ...shown }) => shown),
  }))
  server.setRequestHandler(callSchema, async ({ params }: z.infer<typeof callSchema>): Promise<ToolResult> => {
    try {
      return await callTool(till, tools(), params)
    } catch (error) {
      return problemResult(asProblem(error), till.origin)
    }
  })
}

async function callTool(
  till: Till,
  tools: readonly Tool[],
  params: z.infer<typeof callSchema>['params'],
): Promise<ToolResult> {
  const tool = tools.find(({ name }) => name === params.name)
  if (!tool) throw new Problem('not_found', { detail: `There is no tool ${params.name.slice(0, 128)}.` })
  const request = buildRequest(tool, params.arguments ?? {})
  const bound = bindToolCall(till.origin, tool.name, params.arguments)
  const response = await answer(till, request, bound, params._meta)
  const { method, target, body } = request
  const asked = { method, url: `${till.origin}${target}`, ...(body ? { body: JSON.parse(String(body)) } : {}) }
  return toolResult(await readAnswer(response), asked, params._meta)
}

async function answer(
  till: Till,
  { method, target, accept, body }: ToolRequest,
  bound: ReturnType<typeof bindToolCall>,
  meta: unknown,
) {
  const parts = splitTarget(target)
  const found = parts && till.match(method, parts.path)
  if (!found) throw new Problem('not_found')
  const headers = new Map([['accept', accept]])
  if (body) headers.set('content-type', 'application/json').set('content-length', String(body.byteLength))
  for (const [name, value] of paymentHeadersOf(meta)) headers.set(name, value)
  const response = await found.route.answer({
    ...{ ...parts, method, params: found.params, headers, remoteAddress: '', bound },
    header: (name) => headers.get(name),
    readBody: async () => body ?? new Uint8Array(),
    clientGone: () => new AbortController().signal,
  })
  await response.delivered?.()
  return response
}
