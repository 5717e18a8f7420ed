import { originOf } from '@assay/till/documents'
import { asProblem, problemBody } from '@assay/till/kernel/problem'
import type { PlainRequest, PlainResponse } from '@assay/till/selling'
import {
  buildRequest,
  describeTools,
  problemResult,
  readAnswer,
  type Tool,
  type ToolRequest,
  toolResult,
} from '@assay/till/tools'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import {
  CallToolRequestSchema,
  ErrorCode,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import type { RouteDeclaration } from '../../http/index.ts'
import { type NodeSite, serviceVersion } from '../../http/node-site.ts'
import { type Caller, innerRequest } from './inner-request.ts'
import { listResources, listTemplates, mimeTypeOf, routeOfUri } from './resources.ts'

export type McpDeps = {
  site: NodeSite
  /** All routes of the node; read at the first call. */
  routes(): readonly RouteDeclaration[]
  /** The front door. */
  handle(request: PlainRequest): Promise<PlainResponse>
}

/** Routes that are documents, files or the operator's own are no tools: a model gains nothing from calling them. */
const leftOut = /^(?:discovery|ops|errors|log|console|mcp|facilitator|auth)\./

/** What is derived from the routes once; servers themselves live for one request. */
export type McpCatalogue = { tools: ReadonlyMap<string, Tool>; listed: unknown[] }

export function mcpCatalogue(deps: McpDeps): McpCatalogue {
  const tools = describeTools(deps.routes().filter(({ id }) => !leftOut.test(id)))
  return {
    tools: new Map(tools.map((tool) => [tool.name, tool])),
    listed: tools.map(({ route: _route, places: _places, ...shown }) => shown),
  }
}

const instructions =
  'Every answer is signed. Free tools need nothing. A paid tool called without a payment answers with its price and takes ' +
  'nothing; pay by calling it again with the same arguments and _meta["x402/payment"]. Use the same payment on every retry ' +
  'of the same purchase: it is never taken twice, and a lost answer is given again.'

/** One server for one caller's request: nothing is kept between requests, so any process can answer any of them. */
export function createMcpServer(deps: McpDeps, catalogue: McpCatalogue, caller: Caller): Server {
  const server = new Server(
    { name: 'assay', title: deps.site.serviceName, version: serviceVersion },
    {
      capabilities: { tools: {}, resources: {} },
      instructions,
      // Arguments are validated by the routes, with our own words; no second validator is built for every request.
      jsonSchemaValidator: {
        getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
      },
    },
  )
  const ask = async (route: Tool['route'], request: ToolRequest, meta: unknown) => {
    const payment = (meta as Record<string, unknown> | undefined)?.['x402/payment']
    return readAnswer(await deps.handle(innerRequest(deps.site, route, request, caller, payment)))
  }
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: catalogue.listed as never }))
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    const tool = catalogue.tools.get(params.name)
    if (!tool) throw new McpError(ErrorCode.InvalidParams, `There is no tool ${params.name.slice(0, 128)}.`)
    try {
      const request = buildRequest(tool, params.arguments ?? {})
      const answered = await ask(tool.route, request, params._meta)
      const { method, target, body } = request
      const url = `${originOf(deps.site, tool.route)}${target}`
      return { ...toolResult(answered, { method, url, ...(body ? { body: JSON.parse(String(body)) } : {}) }) }
    } catch (error) {
      return { ...problemResult(asProblem(error), new URL(deps.site.baseUrl).origin) }
    }
  })
  server.setRequestHandler(ListResourcesRequestSchema, () => ({ resources: listResources(deps.site, deps.routes()) }))
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({
    resourceTemplates: listTemplates(deps.site, deps.routes()),
  }))
  server.setRequestHandler(ReadResourceRequestSchema, async ({ params }) => {
    const found = routeOfUri(deps.site, deps.routes(), params.uri)
    if (!found) throw new McpError(ErrorCode.InvalidParams, 'There is no such resource here.', { uri: params.uri })
    const asked = { method: 'GET', target: found.target, accept: mimeTypeOf(found.route), body: undefined }
    const answered = await ask(found.route, asked, params._meta).catch((error: unknown) => {
      const problem = asProblem(error)
      const body = problemBody(problem, new URL(deps.site.baseUrl).origin)
      throw new McpError(ErrorCode.InvalidParams, problem.message, body)
    })
    const { status, text, contentType, paymentRequired, paymentResponse } = answered
    if (status === 402) throw new McpError(402, 'Payment required', paymentRequired)
    if (status !== 200) throw new McpError(ErrorCode.InvalidRequest, `Answered with ${status}.`, parsed(text))
    return {
      contents: [{ uri: params.uri, mimeType: contentType, text }],
      ...(paymentResponse === undefined ? {} : { _meta: { 'x402/payment-response': paymentResponse } }),
    }
  })
  return server
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
