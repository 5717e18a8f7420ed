import { type Address, parseAddress } from '@assay/protocol/address'
import { walletParams } from '@assay/till/kernel/address-text'
import type { Sql } from '@assay/till/store/database'
import { z } from 'zod'
import { defineRoute, jsonAnswer, type RouteDeclaration } from '../../../http/index.ts'
import { exampleWallet } from '../attest/schemas.ts'
import { earningKeys, readEarnings } from './read-earnings.ts'

const limitMax = 1_000
const day = z.iso.date()
const dayMs = 86_400_000

const output = z.object({
  data: z.array(
    z.object({
      key: z.string().describe('Address of the page, wallet of the payer, or day.'),
      domain: z.string().nullable(),
      citations: z.int(),
      earned_micro: z.string(),
      earned_usd: z.string(),
    }),
  ),
  next_cursor: z.string().nullable(),
})

export function earningsRoute({ database }: { database: Sql }): RouteDeclaration {
  return defineRoute({
    id: 'creators.earnings',
    capability: 'citations.creator.earnings',
    area: 'C',
    method: 'GET',
    path: '/v1/creators/:wallet/earnings',
    summary: 'What a creator earned by page, payer or day',
    description:
      'Shares of citations that were paid for, without those that wait for a proof. Days are UTC; `until` is included.',
    params: walletParams,
    query: z.strictObject({
      by: z.enum(earningKeys).optional().describe('Default: day.'),
      from: day.optional(),
      until: day.optional(),
      cursor: z.string().max(2_100).optional(),
      limit: z.coerce.number().int().min(1).max(limitMax).optional().describe('Default: 100.'),
    }),
    output,
    example: {
      params: { wallet: exampleWallet },
      query: { by: 'day' },
      output: {
        data: [{ key: '2026-01-01', domain: 'example.com', citations: 2, earned_micro: '9000', earned_usd: '0.009' }],
        next_cursor: null,
      },
    },
    next: '/v1/creators/:wallet',
    cost: 2,
    access: {
      kind: 'free',
      handle: async ({ params, query }) => {
        const { by = 'day', from, until, cursor, limit = 100 } = query
        const data = await readEarnings(database, parseAddress(params.wallet) as Address, {
          by,
          from: new Date(from ?? 0),
          until: until === undefined ? new Date('9999-01-01T00:00:00Z') : new Date(Date.parse(until) + dayMs),
          after: cursor,
          limit,
        })
        return jsonAnswer({ data, next_cursor: data.length === limit ? (data.at(-1)?.key ?? null) : null })
      },
    },
  })
}
