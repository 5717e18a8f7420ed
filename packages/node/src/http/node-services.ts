/** What a node offers, as services of its DID document. Every node of this kind has them at the same places. */
export function nodeServices(did: string, origin: string) {
  const base = origin.replace(/\/$/, '')
  const service = (fragment: string, type: string, path: string) => ({
    id: `${did}#${fragment}`,
    type,
    serviceEndpoint: `${base}${path}`,
  })
  return [
    service('x402', 'X402Endpoint', '/.well-known/x402'),
    service('agent-card', 'AgentCard', '/.well-known/agent-card.json'),
    service('mcp', 'MCP', '/mcp'),
    service('openapi', 'OpenAPI', '/openapi.json'),
    service('did-resolver', 'DIDResolver', '/1.0/identifiers/'),
  ]
}
