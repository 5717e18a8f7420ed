import { capabilityPattern } from '@assay/protocol/mesh/read-statement'
import { statementCharsMax } from '@assay/protocol/mesh/statement'
import { z } from 'zod'
import { silentMax } from './limits.ts'

export const capabilityText = z.string().max(64).regex(capabilityPattern, 'must be a capability such as tokens.report')

export const meshQuery = z.strictObject({
  view: z.enum(['full', 'brief']).optional().describe('`brief` names peers without what they sell; nodes ask for it.'),
  capability: capabilityText.optional().describe('Only nodes that offer it, and only that.'),
  since: z.coerce
    .number()
    .int()
    .min(0)
    .optional()
    .describe('With `brief`: also the statements that changed after it; `changed_until` of the last answer.'),
  page: z.coerce.number().int().min(1).max(256).optional().describe('`next_page` has the address of the next one.'),
})

export const announceBody = z.strictObject({
  address: z.string().max(255).describe('API_URL of the node that announces itself; its keys are read there.'),
  statement: z.string().max(statementCharsMax).describe('Its signed statement, a compact JWS.'),
  silent: z
    .array(z.string().max(300))
    .max(silentMax)
    .optional()
    .describe('DIDs of peers that had answered it and then did not; the receiver asks them itself.'),
})

export const announceOutput = z.strictObject({
  did: z.string(),
  address: z.string(),
  accepted: z.literal(true),
  sequence: z.int(),
})

const resource = z.strictObject({
  method: z.string(),
  url: z.string().describe('`{name}` stands for a parameter.'),
  example: z.string().describe('A URL that can be asked as it is.'),
  price_micro: z.string(),
  price_usd: z.string(),
  price_micro_max: z.string().optional(),
  networks: z.array(z.string()),
})
const resources = z.record(z.string(), z.array(resource)).describe('By capability.')

export const statementText = z.string().describe('The node’s own words, signed by it: passed on as they came.')

export const meshOutput = z.strictObject({
  protocol: z.string(),
  generated_at: z.string(),
  node: z.strictObject({
    did: z.string(),
    address: z.string(),
    base_url: z.string(),
    name: z.string(),
    sequence: z.int(),
    statement: statementText,
    resources: resources.optional(),
  }),
  peers: z.array(
    z.looseObject({
      did: z.string(),
      address: z.string(),
      sequence: z.int(),
      state: z.enum(['alive', 'suspect']).optional(),
      health: z.number().optional().describe('Share of visits answered lately, 0 to 1, measured by this node.'),
      latency_ms: z.number().nullable().optional(),
      last_seen_at: z.string().nullable().optional(),
      recommended: z.boolean().optional(),
      price_mismatch: z.boolean().optional().describe('It asked another price than it states.'),
      resources: resources.optional(),
      statement: statementText.optional(),
    }),
  ),
  changed: z
    .array(z.strictObject({ did: z.string(), address: z.string(), sequence: z.int(), statement: statementText }))
    .optional(),
  changed_until: z.int().optional(),
  silent: z.array(z.string()).optional().describe('DIDs of peers that lately stopped to answer this node.'),
  evidence_until: z.int().optional().describe('When this node was last given evidence; 0 for never.'),
  agents_until: z.int().optional().describe('When it was last given a declaration of an agent.'),
  next_page: z.string().nullable().describe('The address of the next page; null on the last.'),
  links: z.strictObject({ manifest: z.string(), mesh: z.string(), announce: z.string() }),
  signature: z
    .strictObject({ alg: z.literal('EdDSA'), kid: z.string(), value: z.string() })
    .describe('Ed25519 over the canonical JSON (RFC 8785) of everything else.'),
})

const exampleResource = {
  method: 'GET',
  url: 'https://node.example.org/v1/report/{address}',
  example: 'https://node.example.org/v1/report/0xb200000000000000000000000000000000000001',
  price_micro: '20000',
  price_usd: '0.02',
  networks: ['eip155:8453'],
}

export const exampleMesh = {
  protocol: '1.0.4',
  generated_at: '2026-01-01T00:00:00.000Z',
  node: {
    did: 'did:web:api.example.org',
    address: 'https://api.example.org',
    base_url: 'https://example.org',
    name: 'Assay',
    sequence: 1767225600000,
    statement: 'eyJhbGciOiJFZERTQSIs….eyJhZGRyZXNzIjoi….c2lnbmF0dXJl',
    resources: {},
  },
  peers: [
    {
      did: 'did:web:node.example.org',
      address: 'https://node.example.org',
      base_url: 'https://node.example.org',
      name: 'Assay',
      state: 'alive' as const,
      health: 0.98,
      latency_ms: 41.3,
      last_seen_at: '2026-01-01T00:00:00.000Z',
      sequence: 1767225599000,
      expires_at: '2026-01-01T00:15:00.000Z',
      recommended: true,
      price_mismatch: false,
      price_mismatches: [],
      resources: { 'token.control.report': [exampleResource] },
      statement: 'eyJhbGciOiJFZERTQSIs….eyJhZGRyZXNzIjoi….c2lnbmF0dXJl',
    },
  ],
  next_page: null,
  links: {
    manifest: 'https://api.example.org/.well-known/x402',
    mesh: 'https://api.example.org/x402/mesh',
    announce: 'https://api.example.org/x402/mesh/announce',
  },
  signature: { alg: 'EdDSA' as const, kid: 'did:web:api.example.org#key', value: 'c2lnbmF0dXJl' },
}
