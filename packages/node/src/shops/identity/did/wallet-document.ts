import { checksumAddress } from '@assay/protocol/address'
import type { Declaration, ServiceType } from '../agents/declaration.ts'
import type { AgentAddress } from '../agents/subject.ts'
import { pkhDid, walletDid } from './parse-did.ts'

export type WalletDocumentParts = {
  /** As it was asked for: the specification wants the very same text. */
  did: string
  named: AgentAddress
  didMethod: string
  chainIds: readonly number[]
  declaration: Declaration
  /** `eip155:<chain>:<registry>` and token, confirmed on chain. */
  registration?: { registry: string; agentId: string } | undefined
  /** Left out of documents of the past: ratings and authorizations are of now. */
  live?: { creditRating: unknown; paymentAuthorizations: readonly unknown[] }
}

const json = (name: string) => ({ '@id': `urn:assay:did:${name}`, '@type': '@json' })

/** Our own members are defined in place, so that a reader of JSON-LD needs no document of ours. */
const ownTerms = {
  creditRating: json('credit-rating'),
  capabilities: json('capabilities'),
  paymentAuthorizations: json('payment-authorizations'),
  X402Endpoint: 'urn:assay:did:x402-endpoint',
  AgentCard: 'urn:assay:did:agent-card',
  MCP: 'urn:assay:did:mcp',
  A2A: 'urn:assay:did:a2a',
  AgentWebsite: 'urn:assay:did:website',
  ERC8004Registration: 'urn:assay:did:erc8004-registration',
}

const context = [
  'https://www.w3.org/ns/did/v1',
  'https://w3id.org/security/suites/secp256k1recovery-2020/v2',
  ownTerms,
] as const

export function walletDocument(parts: WalletDocumentParts) {
  const { did, named } = parts
  const chains = named.chainId === undefined ? parts.chainIds : [named.chainId]
  const methods = chains.map((chainId, index) => ({
    id: `${did}#${index === 0 ? 'blockchainAccountId' : `eip155-${chainId}`}`,
    type: 'EcdsaSecp256k1RecoveryMethod2020',
    controller: did,
    blockchainAccountId: `eip155:${chainId}:${checksumAddress(named.address)}`,
  }))
  const ids = methods.map((method) => method.id)
  return {
    '@context': context,
    id: did,
    alsoKnownAs: otherNames(parts),
    verificationMethod: methods,
    authentication: ids,
    assertionMethod: ids,
    service: services(parts),
    capabilities: parts.declaration.capabilities,
    ...parts.live,
  }
}

/** A did:pkh names an account of one chain, so it says nothing of the wallet's other names unless a key holds them all. */
function otherNames({ did, named: { address, chainId }, didMethod, chainIds }: WalletDocumentParts): string[] {
  const all = [walletDid(didMethod, address), ...chainIds.map((chain) => pkhDid({ chainId: chain, address }))]
  const names = chainId === undefined ? all : [walletDid(didMethod, address)]
  return names.filter((name) => name.toLowerCase() !== did.toLowerCase())
}

const serviceNames: Record<ServiceType, { fragment: string; type: string }> = {
  x402: { fragment: 'x402', type: 'X402Endpoint' },
  agent_card: { fragment: 'agent-card', type: 'AgentCard' },
  mcp: { fragment: 'mcp', type: 'MCP' },
  a2a: { fragment: 'a2a', type: 'A2A' },
  web: { fragment: 'web', type: 'AgentWebsite' },
}

/** What the wallet declared and nothing else: a node that knows a wallet is not its endpoint. */
function services({ did, declaration, registration }: WalletDocumentParts) {
  const endpoints = new Map((declaration.services ?? []).map(({ type, url }) => [type, url]))
  return [
    ...[...endpoints].map(([type, url]) => ({
      id: `${did}#${serviceNames[type].fragment}`,
      type: serviceNames[type].type,
      serviceEndpoint: url,
    })),
    ...(registration === undefined
      ? []
      : [
          {
            id: `${did}#erc8004`,
            type: 'ERC8004Registration',
            serviceEndpoint: { agentRegistry: registration.registry, agentId: registration.agentId },
          },
        ]),
  ]
}
