import { type Address, checksumAddress, parseAddress } from '@assay/protocol/address'
import { addressText } from '@assay/till/kernel/address-text'
import { toRfc3339 } from '@assay/till/kernel/clock'
import { z } from 'zod'
import { defineRoute, jsonAnswer, type RouteDeclaration } from '../../../http/index.ts'
import type { Notifications } from '../../../notifications/index.ts'
import type { Topic } from '../../topic.ts'
import { exampleAddress } from '../routes.ts'
import { verdict } from '../schemas.ts'
import { hasTokenPrefix } from '../token-address.ts'

export const controlTopic: Topic = {
  name: 'token.control',
  title: 'Control of a B20 token',
  subjects: 'the address of a B20 token',
  example: exampleAddress,
  isPublic: true,
  subjectOf: (text) => {
    const token = parseAddress(text)
    return token !== undefined && hasTokenPrefix(token) ? token : undefined
  },
}

const change = z.looseObject({
  id: z.string(),
  token: z.string(),
  kind: z.string(),
  text: z.string(),
  block_number: z.string(),
  block_hash: z.string(),
  transaction: z.string().nullable(),
  verdict_before: verdict.nullable().describe('Null where the token had not been read before.'),
  verdict_after: verdict,
  published_at: z.string(),
})

const example = {
  id: '41',
  token: exampleAddress,
  kind: 'role_granted',
  text: '0x1111111111111111111111111111111111111111 granted MINT_ROLE to 0x2222222222222222222222222222222222222222',
  block_number: '53556100',
  block_hash: `0x${'2'.repeat(64)}`,
  transaction: `0x${'1'.repeat(64)}`,
  log_index: 3,
  verdict_before: 'LOCKED' as const,
  verdict_after: 'PARTIALLY_CONTROLLED' as const,
  complete: true,
  verdict_block_number: '53556200',
  published_at: '2026-11-05T18:00:00Z',
}

/** None on a node without notifications: they keep the events. */
export function allChangesRoutes(events: Notifications | undefined): RouteDeclaration[] {
  if (events === undefined) return []
  return [
    defineRoute({
      id: 'tokens.changes.all',
      capability: 'token.control.changes.all',
      area: 'A',
      method: 'GET',
      path: '/v1/tokens/changes',
      summary: 'Changes of who controls B20 tokens, all tokens or one, newest first',
      description:
        'What the background index saw in final blocks, each with block, transaction and the verdicts last read before and first read after it. Kept 90 days. To be notified as it happens: POST /v1/notifications/watches, topic `token.control`.',
      query: z.strictObject({
        token: addressText.optional(),
        limit: z
          .string()
          .regex(/^([1-9]|[1-9][0-9]|100)$/, 'must be 1 to 100')
          .optional(),
        cursor: z
          .string()
          .regex(/^[1-9][0-9]{0,17}$/, 'must be a next_cursor')
          .optional(),
      }),
      output: z.strictObject({ data: z.array(change), next_cursor: z.string().nullable() }),
      example: { output: { data: [example], next_cursor: null } },
      next: '/v1/notifications/watches',
      cacheSeconds: 2,
      access: {
        kind: 'free',
        handle: async ({ query }) => {
          const limit = Number(query.limit ?? 20)
          const subject = query.token === undefined ? undefined : parseAddress(query.token)
          const before = query.cursor === undefined ? undefined : BigInt(query.cursor)
          const rows = await events.recent(controlTopic.name, { subject, before, limit: limit + 1 })
          const shown = rows.slice(0, limit)
          return jsonAnswer({
            data: shown.map(({ id, subject: token, atMs, payload }) => ({
              ...payload,
              id: String(id),
              token: checksumAddress(token as Address),
              published_at: toRfc3339(atMs),
            })),
            next_cursor: rows.length > limit ? String(shown.at(-1)?.id) : null,
          })
        },
      },
    }),
  ]
}
