import { declarationMessage } from '@assay/protocol/mesh/agent-declaration'
import type { LocalAccount } from 'viem'
import { type AnswerOf, ask, askSigned, type BodyOf, type QueryOf, type RowOf } from '../call-operation.ts'
import type { AssayClient } from '../client.ts'
import { defaultPlatform, type Platform } from '../platform.ts'

export type AgentDeclaration = BodyOf<'agents.capabilities.declare'>
export type AgentCapability = AgentDeclaration['capabilities'][number]
export type AgentServiceType = NonNullable<AgentDeclaration['services']>[number]['type']
export type Agent = AnswerOf<'agents.show'>
export type AgentSummary = RowOf<'agents.search'>
export type AgentSearch = QueryOf<'agents.search'>

export type AgentSigner = { account: LocalAccount; chainId?: number }

/** A wallet's DID under the method of the node; `x402` unless its operator chose another. */
export const didOfWallet = (wallet: string, method = 'x402') => `did:${method}:${wallet.toLowerCase()}`

export function readAgent(client: AssayClient, node: string, did: string): Promise<Agent> {
  return ask(client, node, 'agents.show', { params: { did } })
}

/** Free; best rated first. */
export function searchAgents(
  client: AssayClient,
  node: string,
  search: AgentSearch = {},
): Promise<AnswerOf<'agents.search'>> {
  return ask(client, node, 'agents.search', { query: search })
}

/** Every declaration, newest first. */
export function readAgentHistory(
  client: AssayClient,
  node: string,
  did: string,
): Promise<AnswerOf<'agents.capabilities.history'>> {
  return ask(client, node, 'agents.capabilities.history', { params: { did } })
}

/** Signed by the wallet of the DID; each call makes a new version. */
export function declareCapabilities(
  client: AssayClient,
  node: string,
  did: string,
  declaration: AgentDeclaration,
  signer: AgentSigner,
): Promise<Agent> {
  const input = { params: { did }, body: declaration }
  return askSigned(client, 'agents.capabilities.declare', input, { node, ...signer })
}

export function revokeCapabilities(
  client: AssayClient,
  node: string,
  did: string,
  signer: AgentSigner,
): Promise<Agent> {
  return askSigned(client, 'agents.capabilities.revoke', { params: { did } }, { node, ...signer })
}

/**
 * Signed once and good at every node: it is given to one and travels with the mesh. A contract wallet names its chain, and
 * its `account` signs as the contract wants it (ERC-1271).
 */
export async function publishDeclaration(
  client: AssayClient,
  node: string,
  declaration: BodyOf<'agents.declarations.give'>['declaration'],
  { account, chainId = 8453, platform = defaultPlatform }: AgentSigner & { platform?: Pick<Platform, 'nowMs'> },
): Promise<AnswerOf<'agents.declarations.give'>> {
  const declared = {
    type: 'x402-agent-declaration' as const,
    account: `eip155:${chainId}:${account.address.toLowerCase()}`,
    sequence: platform.nowMs(),
    declaration,
  }
  const signature = await account.signMessage({ message: declarationMessage(declared) })
  return ask(client, node, 'agents.declarations.give', { body: { ...declared, signature } })
}

/** For good: the DID answers 410 from then on. */
export function deactivateAgent(
  client: AssayClient,
  node: string,
  did: string,
  signer: AgentSigner,
): Promise<AnswerOf<'agents.deactivate'>> {
  return askSigned(client, 'agents.deactivate', { params: { did } }, { node, ...signer })
}
