import { type AssayClient, AssayError, createAssayClient } from '@assay/sdk'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import {
  CallToolRequestSchema,
  type CallToolResult,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { chooseWallet, type WalletOptions } from '../buy/choose-wallet.ts'
import type { CommandContext } from '../command-context.ts'
import { version } from '../version.ts'

export type McpOptions = WalletOptions & { url: string; maxAmount: string; maxTotal: string }

/** Stands between a program that speaks MCP over its pipes and a node that speaks it over HTTP; pays where it may. */
export async function runMcp(context: CommandContext, options: McpOptions): Promise<void> {
  const { terminal } = context
  const node = new Client({ name: 'assay', version })
  await node.connect(new StreamableHTTPClientTransport(new URL('/mcp', options.url)) as never)
  const buyer = await buyerOf(context, options)
  const server = createBridge(node, buyer, new URL(options.url).origin)
  const ended = new Promise<void>((resolve) => {
    server.onclose = resolve
    // The program that started this one is gone when its end of the pipe is.
    process.stdin.once('end', resolve)
  })
  await server.connect(new StdioServerTransport() as never)
  terminal.say(
    buyer
      ? `tools of ${options.url}, paid with ${buyer.label}: at most ${options.maxAmount} USD a call, ${options.maxTotal} USD in all`
      : `tools of ${options.url}; no wallet, so paid ones only say their price`,
  )
  await terminal.untilInterrupted((signal) => {
    signal.addEventListener('abort', () => void server.close(), { once: true })
    return ended
  })
  await Promise.allSettled([server.close(), node.close()])
}

type Buyer = { client: AssayClient; label: string }

async function buyerOf({ terminal }: CommandContext, options: McpOptions): Promise<Buyer | undefined> {
  const named = options.demo || options.keyFile !== undefined || options.keyEnv !== undefined
  if (!named && !terminal.env.ASSAY_KEY) return undefined
  const wallet = await chooseWallet(options.url, options, terminal)
  const client = createAssayClient({
    account: wallet.account,
    networks: wallet.networks,
    baseUrl: options.url,
    maxPerCallUsd: options.maxAmount,
    maxTotalUsd: options.maxTotal,
  })
  return { client, label: wallet.label }
}

export function createBridge(node: Client, buyer: Buyer | undefined, origin: string): Server {
  const server = new Server(
    { name: 'assay', version },
    { capabilities: { tools: {}, resources: {} }, instructions: node.getInstructions() ?? '' },
  )
  server.setRequestHandler(ListToolsRequestSchema, ({ params }) => node.listTools(params))
  server.setRequestHandler(ListResourcesRequestSchema, ({ params }) => node.listResources(params))
  server.setRequestHandler(ListResourceTemplatesRequestSchema, ({ params }) => node.listResourceTemplates(params))
  server.setRequestHandler(ReadResourceRequestSchema, ({ params }) => node.readResource(params))
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    const first = (await node.callTool(params)) as CallToolResult
    const asked = requestBehind(first)
    if (!buyer || !asked) return first
    // What the node names is only followed to the node itself; the client's policy has the last word on the price.
    if (new URL(asked.url).origin !== origin) return first
    return buy(buyer, asked)
  })
  return server
}

type AskedRequest = { method: string; url: string; body?: unknown }

/** The request that a result with a price to pay stands for. */
function requestBehind(result: CallToolResult): AskedRequest | undefined {
  const response = result._meta?.['assay/response'] as { status?: number } | undefined
  const asked = result._meta?.['assay/request'] as AskedRequest | undefined
  return result.isError && response?.status === 402 && asked && URL.canParse(asked.url) ? asked : undefined
}

async function buy({ client }: Buyer, { method, url, body }: AskedRequest): Promise<CallToolResult> {
  const json = { 'content-type': 'application/json' }
  try {
    const bought = await client.fetch(url, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: json }),
    })
    const text = await bought.response.text()
    const { payment, verified } = bought
    return {
      ...(bought.response.ok ? {} : { isError: true }),
      content: [{ type: 'text', text }],
      ...structured(text),
      _meta: { 'assay/payment': payment.status, 'assay/signature': verified.status },
    }
  } catch (error) {
    if (!(error instanceof AssayError)) throw error
    return { isError: true, content: [{ type: 'text', text: `${error.message}. ${error.hint ?? ''}`.trim() }] }
  }
}

function structured(text: string): { structuredContent?: Record<string, unknown> } {
  try {
    const value: unknown = JSON.parse(text)
    return value !== null && typeof value === 'object' && !Array.isArray(value)
      ? { structuredContent: value as Record<string, unknown> }
      : {}
  } catch {
    return {}
  }
}
