import { originOf } from '@assay/till/documents'
import { asProblem, problemBody } from '@assay/till/kernel/problem'
import {
  type Answered,
  bindResourceRead,
  bindToolCall,
  buildRequest,
  metaKeys,
  problemResult,
  readAnswer,
  resultMeta,
  termsOf,
  toolResult,
} from '@assay/till/tools'
import { ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server'
import type { RouteDeclaration } from '../../http/index.ts'
import { type NodeSite, serviceVersion } from '../../http/node-site.ts'
import type { Prompt } from '../../shops/prompt.ts'
import { type Era, type OfferedTool, offeredTools } from './catalogue.ts'
import { type Caller, type InnerCall, innerRequest } from './inner-request.ts'
import { listResources, listTemplates, mimeTypeOf, routeOfUri } from './resources.ts'

export type McpDeps = {
  site: NodeSite
  /** All routes of the node. */
  routes: readonly RouteDeclaration[]
  /** What the shops bring. */
  prompts: readonly Prompt[]
  /** Whether payments of the Payment authentication scheme are taken. */
  mpp: boolean
}

/** What is derived from the routes once; servers themselves live for one request. */
export type McpCatalogue = { tools: ReadonlyMap<string, OfferedTool>; prompts: readonly Prompt[] }

export function mcpCatalogue({ site, routes, prompts }: McpDeps): McpCatalogue {
  const tools = new Map(offeredTools(site, routes).map((tool) => [tool.name, tool]))
  const possible = prompts.filter((prompt) => prompt.tools.every((name) => tools.has(name)))
  return { tools, prompts: possible.sort((a, b) => a.name.localeCompare(b.name)) }
}

const instructions =
  'Every answer is signed. Free tools need nothing. A paid tool called without a payment answers with its price and takes ' +
  `nothing; pay by calling it again with the same arguments and _meta["${metaKeys.payment}"] (x402), or ` +
  `_meta["${metaKeys.credential}"] (Payment authentication scheme). Use the same payment on every retry of the same ` +
  'purchase: it is never taken twice, and a lost answer is given again. Where an outcome is not known, follow status_url and never sign again.'

/** x402's own way to ask for a payment, for callers who said with their request that they know it. */
const paymentExtension = 'org.x402/payment'

/** One server for one caller's request: nothing is kept between requests, so any process can answer any of them. */
export function createMcpServer(deps: McpDeps, catalogue: McpCatalogue, caller: Caller, era: Era): Server {
  const server = new Server(
    { name: 'assay', title: deps.site.serviceName, version: serviceVersion },
    {
      capabilities: {
        tools: {},
        resources: {},
        prompts: {},
        ...(deps.mpp ? { experimental: { payment: { methods: { evm: { intents: ['charge'] } } } } } : {}),
        ...(era === 'modern' ? { extensions: { [paymentExtension]: {} } } : {}),
      },
      instructions,
    },
  )
  const calls: Calls = {
    deps,
    era,
    ask: async (route, call) => readAnswer(await caller.dispatch(innerRequest(deps.site, route, call, caller))),
    asksByExtension: () =>
      era === 'modern' && server.getClientCapabilities()?.extensions?.[paymentExtension] !== undefined,
  }
  server.setRequestHandler('tools/list', () => ({
    tools: [...catalogue.tools.values()].map(({ listed }) => listed[era] as never),
  }))
  server.setRequestHandler('tools/call', ({ params }) => callTool(calls, catalogue, params) as never)
  server.setRequestHandler('resources/list', () => ({ resources: listResources(deps.site, deps.routes) }))
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: listTemplates(deps.site, deps.routes),
  }))
  server.setRequestHandler('resources/read', ({ params }) => readResource(calls, params) as never)
  server.setRequestHandler('prompts/list', () => ({
    prompts: catalogue.prompts.map(({ tools: _tools, write: _write, ...shown }) => shown),
  }))
  server.setRequestHandler('prompts/get', ({ params }) => getPrompt(catalogue, params))
  return server
}

type Calls = {
  deps: McpDeps
  era: Era
  ask(route: RouteDeclaration, call: InnerCall): Promise<Answered>
  asksByExtension(): boolean
}

type Params = { name: string; arguments?: Record<string, unknown> | undefined; _meta?: unknown }

async function callTool(calls: Calls, catalogue: McpCatalogue, params: Params): Promise<object> {
  const { site } = calls.deps
  const offered = catalogue.tools.get(params.name)
  if (!offered)
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${params.name.slice(0, 128)}.`)
  try {
    const { tool, given } = offered.choose(params.arguments ?? {})
    const request = buildRequest(tool, given)
    const bound = bindToolCall(originOf(site, tool.route), offered.name, params.arguments)
    const meta = params._meta
    const answered = await calls.ask(tool.route as RouteDeclaration, { request, bound, meta })
    const { method, target, body } = request
    const url = `${originOf(site, tool.route)}${target}`
    const asked = { method, url, ...(body ? { body: JSON.parse(String(body)) } : {}) }
    const terms = termsOf(answered)
    if (terms && calls.asksByExtension())
      return { resultType: 'payment_required', paymentRequired: terms, _meta: resultMeta(answered, asked, meta) }
    return toolResult(answered, asked, meta)
  } catch (error) {
    return problemResult(asProblem(error), new URL(site.baseUrl).origin)
  }
}

/** In 2026-07-28 the code of the Payment scheme is taken by something else. */
const paymentRequiredCode = { legacy: -32042, modern: 402 } satisfies Record<Era, number>

async function readResource(calls: Calls, { uri, _meta: meta }: { uri: string; _meta?: unknown }): Promise<object> {
  const { site, routes } = calls.deps
  const found = routeOfUri(site, routes, uri)
  if (!found) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'There is no such resource here.', { uri })
  const request = { method: 'GET', target: found.target, accept: mimeTypeOf(found.route), body: undefined }
  const answered = await calls
    .ask(found.route, { request, bound: bindResourceRead(uri), meta })
    .catch((error: unknown) => {
      const problem = asProblem(error)
      const body = problemBody(problem, new URL(site.baseUrl).origin)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, problem.message, body)
    })
  const { status, text, contentType, challenges } = answered
  const terms = termsOf(answered)
  const _meta = resultMeta(answered, { method: 'GET', url: uri }, meta)
  if (terms && calls.asksByExtension()) return { resultType: 'payment_required', paymentRequired: terms, _meta }
  if (terms) {
    const data = { ...terms, httpStatus: 402, challenges }
    throw new ProtocolError(paymentRequiredCode[calls.era], 'Payment required', data)
  }
  if (status !== 200)
    throw new ProtocolError(ProtocolErrorCode.InvalidRequest, `Answered with ${status}.`, parsed(text))
  return { contents: [{ uri, mimeType: contentType, text }], _meta }
}

function getPrompt(catalogue: McpCatalogue, params: { name: string; arguments?: Record<string, string> | undefined }) {
  const prompt = catalogue.prompts.find(({ name }) => name === params.name)
  const invalid = (message: string) => new ProtocolError(ProtocolErrorCode.InvalidParams, message)
  if (!prompt) throw invalid(`There is no prompt ${params.name.slice(0, 128)}.`)
  const given = params.arguments ?? {}
  const missing = prompt.arguments.find(({ name, required }) => required && !given[name])
  if (missing) throw invalid(`The argument ${missing.name} is needed.`)
  const text = prompt.write(given)
  return {
    description: prompt.description,
    messages: [{ role: 'user' as const, content: { type: 'text' as const, text } }],
  }
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
