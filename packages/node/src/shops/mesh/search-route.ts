import { parseUsd } from '@assay/protocol/money'
import { Problem } from '@assay/till/kernel/problem'
import { z } from 'zod'
import { defineRoute, jsonAnswer, pageLimit, type RouteDeclaration } from '../../http/index.ts'
import type { MeshDeps } from './deps.ts'
import { meshPath, searchPageMax, searchPath } from './limits.ts'
import { capabilityText, exampleMesh, statementText } from './schemas.ts'
import { type FoundOffer, searchMesh } from './search-mesh.ts'

const found = z.strictObject({
  did: z.string(),
  address: z.string(),
  method: z.string(),
  url: z.string().describe('`{name}` stands for a parameter.'),
  example_url: z.string(),
  price_micro: z.string(),
  price_usd: z.string(),
  price_seen: z.boolean().describe('Its own signed 402 asked this; otherwise it is only stated.'),
  networks: z.array(z.string()),
  schema: z
    .string()
    .nullable()
    .describe('SHA-256 of its input and output schemas: offers with the same one can be called alike.'),
  recommended: z.boolean(),
  health: z.number().nullable(),
  latency_ms: z.number().nullable(),
  evidence: z
    .strictObject({
      payers: z.int(),
      calls: z.int(),
      disputed: z.int(),
      price_kept: z.number(),
      latency_ms: z.number(),
      success: z.number(),
    })
    .describe('From paid calls that buyers reported; payers are groups that are independent of each other.'),
  why: z.string().describe('Why it is where it is.'),
  statement: statementText,
})

const exampleFound: FoundOffer = {
  did: 'did:web:node.example.org',
  address: 'https://node.example.org',
  method: 'GET',
  url: 'https://node.example.org/v1/report/{address}',
  example_url: 'https://node.example.org/v1/report/0xb200000000000000000000000000000000000001',
  price_micro: '20000',
  price_usd: '0.02',
  price_seen: true,
  networks: ['eip155:8453'],
  schema: 'n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg',
  recommended: true,
  health: 0.98,
  latency_ms: 41.3,
  evidence: { payers: 4, calls: 12, disputed: 0, price_kept: 1, latency_ms: 230, success: 0.9 },
  why: 'asks 0.02 USD; 12 paid calls by 4 independent payers, 0 disputed; success 0.9',
  statement: exampleMesh.node.statement,
}

export function searchRoute(deps: MeshDeps): RouteDeclaration {
  return defineRoute({
    id: 'mesh.search',
    area: 'C',
    method: 'GET',
    path: searchPath,
    summary: 'Who offers a capability, over all nodes that this one knows, best first, and why',
    query: z.strictObject({
      capability: capabilityText,
      max_price: z.string().max(20).optional().describe('Decimal USD.'),
      network: z.string().max(64).optional().describe('CAIP-2 network on which it can be paid.'),
      schema: z.string().max(43).optional(),
      limit: pageLimit(searchPageMax, searchPageMax),
      cursor: z
        .string()
        .regex(/^[1-9]\d{0,2}$/, 'is not valid')
        .optional(),
    }),
    output: z.strictObject({ data: z.array(found), next_cursor: z.string().nullable() }),
    example: { query: { capability: 'token.control.report' }, output: { data: [exampleFound], next_cursor: null } },
    next: meshPath,
    cost: 2,
    cacheSeconds: 1,
    access: {
      kind: 'free',
      handle: async ({ query }) => {
        const { capability, max_price: maxPrice, network, schema } = query
        const maxMicro = maxPrice === undefined ? undefined : parseUsd(maxPrice)
        if (maxPrice !== undefined && maxMicro === undefined)
          throw new Problem('input_invalid', { detail: 'max_price must be decimal USD, such as 0.05.' })
        const all = await searchMesh(deps, { capability, maxMicro, network, schema })
        const from = Number(query.cursor ?? 0)
        const next = from + Number(query.limit ?? searchPageMax)
        return jsonAnswer({ data: all.slice(from, next), next_cursor: next < all.length ? String(next) : null })
      },
    },
  })
}
