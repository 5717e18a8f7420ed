import { type Address, checksumAddress } from '@assay/protocol/address'
import { toRfc3339 } from '@assay/till/kernel/clock'
import { Problem } from '@assay/till/kernel/problem'
import type { Database } from '@assay/till/store/database'
import { z } from 'zod'
import { defineRoute, jsonAnswer, type RouteDeclaration } from '../../http/index.ts'
import { loadCursor } from './indexer/store.ts'
import { verdict } from './schemas.ts'

export type ListDeps = { database: Database; chainId: number; network: string; synthetic: boolean }

const listed = z.strictObject({
  address: z.string(),
  name: z.string().nullable(),
  symbol: z.string().nullable(),
  verdict: verdict.nullable().describe('Null until it was read for the first time.'),
  complete: z.boolean().nullable(),
  verdict_block_number: z.string().nullable(),
  verdict_at: z.string().nullable(),
  created_block_number: z.string(),
  created_transaction: z.string(),
  changed_block_number: z.string().describe('Of the last change of control that the index has seen.'),
})

const index = z.strictObject({
  to_block_number: z
    .string()
    .nullable()
    .describe('Final block up to which all tokens are known; null: nothing was read yet.'),
  behind_blocks: z.string().nullable(),
  updated_at: z.string().nullable(),
})

const exampleToken = {
  address: '0xb200000000000000000000aaaaaaaaaaaaaaaaaa',
  name: 'Example',
  symbol: 'EXM',
  verdict: 'ISSUER_CONTROLLED' as const,
  complete: true,
  verdict_block_number: '53556200',
  verdict_at: '2026-11-05T18:00:00Z',
  created_block_number: '53500000',
  created_transaction: `0x${'1'.repeat(64)}`,
  changed_block_number: '53556100',
}

export function listRoute(deps: ListDeps): RouteDeclaration {
  return defineRoute({
    id: 'tokens.list',
    capability: 'token.control.list',
    area: 'A',
    method: 'GET',
    path: '/v1/tokens',
    summary: 'All B20 tokens with the verdict last read, newest first',
    description:
      'From the background index, which reads final blocks: `index` says up to which block it knows all tokens. A verdict is of its own block; GET /v1/check/{address} reads it now.',
    query: z.strictObject({
      verdict: verdict.optional(),
      limit: z
        .string()
        .regex(/^([1-9]|[1-9][0-9]|100)$/, 'must be 1 to 100')
        .optional(),
      cursor: z
        .string()
        .regex(/^[0-9]{1,15}-0x[0-9a-f]{40}$/, 'must be a next_cursor')
        .optional(),
    }),
    output: z.strictObject({
      network: z.string(),
      synthetic: z.literal(true).optional().describe('Demo data.'),
      data: z.array(listed),
      next_cursor: z.string().nullable(),
      index,
    }),
    example: {
      query: { verdict: 'LOCKED', limit: '20' },
      output: {
        network: deps.network,
        data: [exampleToken],
        next_cursor: null,
        index: { to_block_number: '53556200', behind_blocks: '0', updated_at: '2026-11-05T18:00:00Z' },
      },
    },
    next: '/v1/check/batch',
    cacheSeconds: 2,
    access: { kind: 'free', handle: async (input) => jsonAnswer(await readList(deps, input.query)) },
  })
}

type Row = {
  token: Address
  name: string | null
  symbol: string | null
  verdict: string | null
  complete: boolean | null
  verdict_block: bigint | null
  verdict_at: Date | null
  created_block: bigint
  created_transaction: string
  changed_block: bigint
}

async function readList(
  { database, chainId, network, synthetic }: ListDeps,
  query: { verdict?: string; limit?: string; cursor?: string },
) {
  const limit = Number(query.limit ?? 20)
  const [block, token] = query.cursor?.split('-') ?? []
  if (block !== undefined && BigInt(block) > 2n ** 62n) throw new Problem('bad_request', { detail: 'No such cursor.' })
  const { rows } = await database.query<Row>(
    `select token, name, symbol, verdict, complete, verdict_block, verdict_at, created_block, created_transaction, changed_block
     from token_listed where chain_id = $1 and ($2::text is null or verdict = $2)
       and ($3::bigint is null or (created_block, token) < ($3, $4))
     order by created_block desc, token desc limit $5`,
    [chainId, query.verdict ?? null, block ?? null, token ?? null, limit + 1],
  )
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  const cursor = await loadCursor(database, chainId)
  return {
    network,
    ...(synthetic ? { synthetic: true } : {}),
    data: shown.map(showRow),
    next_cursor: rows.length > limit && last ? `${last.created_block}-${last.token}` : null,
    index: {
      to_block_number: cursor?.toBlock.toString() ?? null,
      behind_blocks: cursor ? (cursor.finalBlock - cursor.toBlock).toString() : null,
      updated_at: cursor ? toRfc3339(cursor.updatedMs) : null,
    },
  }
}

const showRow = (row: Row) => ({
  address: checksumAddress(row.token),
  name: row.name,
  symbol: row.symbol,
  verdict: row.verdict,
  complete: row.complete,
  verdict_block_number: row.verdict_block?.toString() ?? null,
  verdict_at: row.verdict_at ? toRfc3339(row.verdict_at.getTime()) : null,
  created_block_number: row.created_block.toString(),
  created_transaction: row.created_transaction,
  changed_block_number: row.changed_block.toString(),
})
