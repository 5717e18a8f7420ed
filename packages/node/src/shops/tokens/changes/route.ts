import { type Address, parseAddress } from '@assay/protocol/address'
import { Problem } from '@assay/till/kernel/problem'
import { z } from 'zod'
import {
  type CallContext,
  createSlots,
  defineRoute,
  holding,
  jsonAnswer,
  type RouteDeclaration,
} from '../../../http/index.ts'
import { addressParams } from '../schemas.ts'
import { type Cursor, cursorText, endOf, loggedChanges, parseCursor } from './control-changes.ts'
import { type FollowDeps, followToken, toCloudEvent } from './follow-token.ts'

const streamType = 'text/event-stream'
const listMax = 500

const cloudEvent = z.object({
  specversion: z.literal('1.0'),
  id: z.string(),
  source: z.string(),
  type: z.string(),
  subject: z.string(),
  datacontenttype: z.literal('application/json'),
  data: z.record(z.string(), z.unknown()),
  signature: z.string().describe('Compact EdDSA JWS over the event without this member.'),
})

export function changesRoute(deps: FollowDeps): RouteDeclaration {
  const slots = createSlots({ perCallerMax: 3, allMax: 500 })
  return defineRoute({
    id: 'tokens.changes',
    capability: 'token.control.changes',
    area: 'A',
    method: 'GET',
    path: '/v1/tokens/:address/changes',
    summary: 'What changes in the control of a B20 token, as it happens',
    description:
      'Server-sent events, each a signed CloudEvent 1.0: first what changed after block `since`, then what comes. Reconnect with Last-Event-ID. At most 3 streams per caller. With Accept: application/json, the changes up to now as a list.',
    params: addressParams,
    query: z.strictObject({
      since: z
        .string()
        .regex(/^(0|[1-9][0-9]{0,14})(-(0|[1-9][0-9]{0,6}))?$/, 'must be a block number or a next_cursor')
        .optional()
        .describe('Block after which to begin, or the next_cursor of a list; the present block by default.'),
    }),
    representations: [streamType, 'application/json'],
    output: z.strictObject({ data: z.array(cloudEvent), next_cursor: z.string().nullable() }),
    example: {
      params: { address: '0xb200000000000000000000aaaaaaaaaaaaaaaaaa' },
      query: { since: '53500000' },
      output: { data: [], next_cursor: null },
    },
    next: '/v1/check/:address',
    cost: 5,
    access: {
      kind: 'free',
      handle: async (input, call) => {
        const token = parseAddress(input.params.address) as Address
        const stated = cursorOf(call, input.query.since as string | undefined)
        if (call.representation !== streamType) return listChanges(deps, token, stated ?? endOf(-1n))
        const release = slots.take(call.remoteAddress)
        try {
          const first = await deps.checker.check(token)
          const from = stated ?? endOf(first.facts.block.number)
          return {
            status: 200,
            contentType: streamType,
            body: holding(release, followToken(deps, token, first, from)),
            headers: { 'X-Accel-Buffering': 'no' },
          }
        } catch (error) {
          release()
          throw error
        }
      },
    },
  })
}

/** Where the caller left off. A made-up id is refused rather than read as the beginning. */
function cursorOf(call: CallContext, since: string | undefined): Cursor | undefined {
  const lastId = call.headers.get('last-event-id')
  if (lastId === undefined || lastId === '')
    return since === undefined ? undefined : (parseCursor(since) ?? endOf(BigInt(since)))
  const cursor = parseCursor(lastId)
  if (cursor === undefined)
    throw new Problem('bad_request', { detail: 'Last-Event-ID is not valid. Start again without it.' })
  return cursor
}

async function listChanges(deps: FollowDeps, token: Address, from: Cursor) {
  const { facts } = await deps.checker.check(token)
  const changes = loggedChanges(facts, from)
  const shown = changes.slice(0, listMax)
  const last = shown.at(-1)
  return jsonAnswer({
    data: shown.map((change) => toCloudEvent(deps, token, change)),
    next_cursor: changes.length > listMax && last !== undefined ? cursorText(last.cursor) : null,
  })
}
