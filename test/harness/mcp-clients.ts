import { Client as LaterClient, StreamableHTTPClientTransport as LaterTransport } from '@modelcontextprotocol/client'
import { Client as EarlierClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as EarlierTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { registerExactEvmScheme } from '@x402/evm/exact/client'
import { x402Client } from '@x402/fetch'
import { evm } from 'mppx/client'
import { McpClient } from 'mppx/mcp/client'
import type { PrivateKeyAccount } from 'viem/accounts'

// biome-ignore lint/suspicious/noExplicitAny: results are checked member by member
export type Result = any

/** What both generations of the official client have. */
export type McpBuyer = {
  callTool(params: {
    name: string
    arguments?: Record<string, unknown>
    _meta?: Record<string, unknown>
  }): Promise<Result>
  listTools(): Promise<{ tools: Result[] }>
  readResource(params: { uri: string; _meta?: Record<string, unknown> }): Promise<Result>
  close(): Promise<void>
}

const info = { name: 'test', version: '1' }

/** The client of the protocol up to 2025-11-25. */
export async function earlierClient(url: string): Promise<EarlierClient> {
  const client = new EarlierClient(info)
  await client.connect(new EarlierTransport(new URL(`${url}/mcp`)) as never)
  return client
}

/** The client of 2026-07-28, which never falls back to an earlier version. */
export async function laterClient(
  url: string,
  options: { extensions?: Record<string, object>; fetch?: typeof globalThis.fetch } = {},
): Promise<LaterClient> {
  const { extensions, fetch } = options
  const client = new LaterClient(info, {
    versionNegotiation: { mode: { pin: '2026-07-28' } },
    ...(extensions ? { capabilities: { extensions } as never } : {}),
  })
  await client.connect(new LaterTransport(new URL(`${url}/mcp`), fetch ? { fetch } : {}))
  return client
}

/** The stock buyer of x402 makes the payment from what a tool asked for. */
export async function payTerms(account: PrivateKeyAccount, terms: Result): Promise<Result> {
  const client = x402Client.fromConfig({
    schemes: [],
    spendControls: { allowedAssets: true, maxAmountPerPayment: false },
  })
  registerExactEvmScheme(client, { signer: account })
  return client.createPaymentPayload(terms)
}

/** mppx around an official client: it pays by itself. `seen` gets every credential that it sends. */
export function paysByMpp(client: McpBuyer, account: PrivateKeyAccount, seen: Result[] = []): McpBuyer {
  const { callTool } = client
  client.callTool = (params) => {
    const credential = params._meta?.['org.paymentauth/credential']
    if (credential) seen.push(credential)
    return callTool.call(client, params)
  }
  const methods = [evm({ account, authorization: { name: 'USD Coin', version: '2' }, maxAtomicAmount: '20000' })]
  return McpClient.wrap(client as never, { methods }) as unknown as McpBuyer
}
