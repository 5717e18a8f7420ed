import { parseJsonObject } from '@assay/protocol/json-object'
import { type AssayClient, AssayError, createAssayClient } from '@assay/sdk'
import { type CallToolResult, Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Server } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { chooseWallet, type WalletOptions } from '../buy/choose-wallet.ts'
import { keepPurchase } from '../buy/keep-purchase.ts'
import type { CommandContext } from '../command-context.ts'
import { toCliError } from '../report-error.ts'
import { version } from '../version.ts'
import { sayThatCallsPay } from './say-calls-pay.ts'

export type McpOptions = WalletOptions & { url: string; mandate?: string; maxAmount: string; maxTotal: string }

/** A proxy between a program that speaks MCP over its pipes and a node that speaks it over HTTP; pays where it may. */
export async function runMcp(context: CommandContext, options: McpOptions): Promise<void> {
  const { terminal } = context
  const node = new Client({ name: 'assay', version }, { versionNegotiation: { mode: 'auto' } })
  await node.connect(new StreamableHTTPClientTransport(new URL('/mcp', options.url)))
  const buyer = await buyerOf(context, options)
  const served = serveStdio(() => createBridge(node, buyer, new URL(options.url).origin))
  // The program that started this one is gone when its end of the pipe is.
  const ended = new Promise<void>((resolve) => process.stdin.once('end', resolve).once('close', resolve))
  terminal.say(
    buyer
      ? `tools of ${options.url}, paid with ${buyer.label}: ${buyer.limits}`
      : `tools of ${options.url}; no wallet, so paid ones only say their price`,
  )
  await terminal.untilInterrupted((signal) => {
    signal.addEventListener('abort', () => void served.close(), { once: true })
    return ended
  })
  await Promise.allSettled([served.close(), node.close()])
}

type Buyer = { client: AssayClient; label: string; limits: string }

async function buyerOf({ terminal }: CommandContext, options: McpOptions): Promise<Buyer | undefined> {
  const named = options.demo || options.keyFile !== undefined || options.keyEnv !== undefined
  if (!named && !terminal.env.ASSAY_KEY) return undefined
  const wallet = await chooseWallet(options.url, options, terminal)
  const client = createAssayClient({
    account: wallet.account,
    // With a mandate nothing is ever paid on chain.
    ...(options.mandate === undefined
      ? { networks: wallet.networks }
      : { networks: [], credit: { mandate: options.mandate } }),
    baseUrl: options.url,
    maxPerCallUsd: options.maxAmount,
    maxTotalUsd: options.maxTotal,
  })
  const limits = `at most ${options.maxAmount} USD a call, ${options.maxTotal} USD in all`
  return { client, label: wallet.label, limits }
}

function createBridge(node: Client, buyer: Buyer | undefined, origin: string): Server {
  const capabilities = { tools: {}, resources: {}, prompts: {} }
  const own =
    buyer && `Every answer is signed and was checked. A paid tool is bought when it is called, ${buyer.limits}.`
  const server = new Server(
    { name: 'assay', version },
    { capabilities, instructions: own ?? node.getInstructions() ?? '' },
  )
  const priced = <T>(said: T): T => (buyer ? sayThatCallsPay(said, buyer.limits) : said)
  server.setRequestHandler('tools/list', async ({ params }) => priced(await node.listTools(ownParams(params))))
  server.setRequestHandler('resources/list', ({ params }) => node.listResources(ownParams(params)))
  server.setRequestHandler('resources/templates/list', ({ params }) => node.listResourceTemplates(ownParams(params)))
  server.setRequestHandler('resources/read', ({ params }) => node.readResource(ownParams(params)))
  server.setRequestHandler('prompts/list', ({ params }) => node.listPrompts(ownParams(params)))
  server.setRequestHandler('prompts/get', async ({ params }) => priced(await node.getPrompt(ownParams(params))))
  server.setRequestHandler('tools/call', async ({ params }) => {
    const first = await node.callTool(ownParams(params))
    const asked = requestBehind(first)
    if (!buyer || !asked) return first
    // What the node names is only followed to the node itself; the client's policy has the last word on the price.
    if (new URL(asked.url).origin !== origin) return first
    return buy(buyer, asked)
  })
  return server
}

/** The version and the capabilities of the program at the pipe are not those of the connection to the node. */
function ownParams<P extends { _meta?: Record<string, unknown> | undefined } | undefined>(params: P): P {
  if (!params?._meta) return params
  const kept = Object.entries(params._meta).filter(([name]) => !name.startsWith('io.modelcontextprotocol/'))
  return { ...params, _meta: Object.fromEntries(kept) }
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
    const structuredContent = parseJsonObject(text)
    const { payment, verified } = bought
    return {
      ...(bought.response.ok ? {} : { isError: true }),
      content: [{ type: 'text', text }],
      ...(structuredContent && { structuredContent }),
      _meta: { 'assay/payment': payment.status, 'assay/signature': verified.status },
    }
  } catch (error) {
    if (!(error instanceof AssayError)) throw error
    const { message, hint } = toCliError(await keepPurchase(error))
    return { isError: true, content: [{ type: 'text', text: `${message}. ${hint ?? ''}`.trim() }] }
  }
}
