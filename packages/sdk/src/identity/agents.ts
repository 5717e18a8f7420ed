import type { CreditRating } from '@assay/protocol/rating'
import type { LocalAccount } from 'viem'
import type { AssayClient } from '../client.ts'
import { readJson } from '../read-json.ts'
import { signRequest } from '../sign-request.ts'

export type AgentServiceType = 'x402' | 'agent_card' | 'mcp' | 'a2a' | 'web'

export type AgentCapability = {
  id: string
  name?: string
  description?: string
  tags?: string[]
  url?: string
  price_usd?: string
}

export type AgentDeclaration = {
  name?: string
  description?: string
  capabilities: AgentCapability[]
  services?: { type: AgentServiceType; url: string }[]
  erc8004?: { network: string; agent_id: string }
  /** The version this one replaces; another one there is refused. */
  expected_version?: number
}

export type Agent = {
  did: string
  wallet: string
  name: string | null
  description: string | null
  version: number
  capabilities: AgentCapability[]
  services: { type: AgentServiceType; url: string }[]
  erc8004: { network: string; agent_id: string } | null
  credit_rating: CreditRating | null
  payment_authorizations: unknown[]
  declared_at: string | null
}

export type AgentSummary = Pick<Agent, 'did' | 'name' | 'version' | 'capabilities' | 'services'> & {
  credit_score: number | null
  updated_at: string
}

export type AgentSearch = {
  capability?: string
  service?: AgentServiceType
  score_min?: number
  limit?: number
  cursor?: string
}

export type AgentSigner = { account: LocalAccount; chainId?: number }

/** A wallet's DID under the method of the node; `x402` unless its operator chose another. */
export const didOfWallet = (wallet: string, method = 'x402') => `did:${method}:${wallet.toLowerCase()}`

const agentUrl = (node: string, did: string, rest = '') => new URL(`/v1/agents/${did}${rest}`, node)

export async function readAgent(client: AssayClient, node: string, did: string): Promise<Agent> {
  return readJson<Agent>(await client.fetch(agentUrl(node, did)))
}

/** Free; best rated first. */
export async function searchAgents(
  client: AssayClient,
  node: string,
  search: AgentSearch = {},
): Promise<{ data: AgentSummary[]; next_cursor: string | null }> {
  const query = new URLSearchParams(
    Object.entries(search).flatMap(([key, value]): [string, string][] =>
      value === undefined ? [] : [[key, String(value)]],
    ),
  )
  return readJson(await client.fetch(new URL(`/v1/agents${query.size === 0 ? '' : `?${query}`}`, node)))
}

/** Every declaration, newest first. */
export async function readAgentHistory(
  client: AssayClient,
  node: string,
  did: string,
): Promise<{
  data: { version: number; declaration: AgentDeclaration; signer: string; declared_at: string }[]
  next_cursor: string | null
}> {
  return readJson(await client.fetch(agentUrl(node, did, '/capabilities')))
}

/** Signed by the wallet of the DID; each call makes a new version. */
export async function declareCapabilities(
  client: AssayClient,
  node: string,
  did: string,
  declaration: AgentDeclaration,
  signer: AgentSigner,
): Promise<Agent> {
  const init = {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(declaration),
  }
  return sendSigned<Agent>(client, agentUrl(node, did, '/capabilities'), init, signer)
}

export async function revokeCapabilities(
  client: AssayClient,
  node: string,
  did: string,
  signer: AgentSigner,
): Promise<Agent> {
  return sendSigned<Agent>(client, agentUrl(node, did, '/capabilities'), { method: 'DELETE' }, signer)
}

/** For good: the DID answers 410 from then on. */
export async function deactivateAgent(
  client: AssayClient,
  node: string,
  did: string,
  signer: AgentSigner,
): Promise<{ did: string; deactivated: true; deactivated_at: string }> {
  return sendSigned(client, agentUrl(node, did), { method: 'DELETE' }, signer)
}

async function sendSigned<T>(client: AssayClient, url: URL, init: RequestInit, signer: AgentSigner): Promise<T> {
  const signed = await signRequest(url, init, signer)
  const body = await signed.arrayBuffer()
  return readJson<T>(
    await client.fetch(signed.url, {
      method: signed.method,
      headers: signed.headers,
      ...(body.byteLength === 0 ? {} : { body }),
    }),
  )
}
