export const exampleWallet = '0x2c7536E3605D9C16a7a3D7b1898e529396a65c23'

export const exampleDid = (method: string) => `did:${method}:${exampleWallet.toLowerCase()}`
export const exampleAt = '2026-01-02T03:04:05.000Z'

export const exampleCapabilities = [
  { id: 'citation.search', name: 'Finds citable sources', url: 'https://agent.example/search', price_usd: '0.01' },
]

export const exampleRating = {
  subject: exampleDid('x402'),
  method: 'assay-credit-1.0',
  issuer: 'did:web:api.example.org',
  score: 34,
  interval: { low: 34, high: 58, level: 0.9 },
  components: [
    { id: 'reliability', value: 0.83, evidence: { independent_payments: 20, failed_settlements: 0 } },
    { id: 'tenure', value: 0.01, evidence: { days: 1, active_days: 1 } },
    { id: 'breadth', value: 0.33, evidence: { independent_counterparties: 1 } },
  ],
  evidence: { settled_payments: 20, independent_payments: 20, failed_settlements: 0 },
  computed_at: exampleAt,
  valid_until: '2026-01-03T03:04:05.000Z',
  jws: 'eyJhbGciOiJFZERTQSJ9.e30.c2lnbmF0dXJl',
}

export function exampleDocument(method: string) {
  const id = exampleDid(method)
  return {
    '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/suites/secp256k1recovery-2020/v2'],
    id,
    verificationMethod: [
      {
        id: `${id}#blockchainAccountId`,
        type: 'EcdsaSecp256k1RecoveryMethod2020',
        controller: id,
        blockchainAccountId: 'eip155:8453:0x2c7536E3605D9C16a7a3D7b1898e529396a65c23',
      },
    ],
    authentication: [`${id}#blockchainAccountId`],
    assertionMethod: [`${id}#blockchainAccountId`],
    service: [{ id: `${id}#x402`, type: 'X402Endpoint', serviceEndpoint: 'https://api.example.org/.well-known/x402' }],
    capabilities: exampleCapabilities,
    creditRating: exampleRating,
    paymentAuthorizations: [],
  }
}
