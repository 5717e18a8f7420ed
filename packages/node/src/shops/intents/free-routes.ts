import { toRfc3339 } from '@assay/till/kernel/clock'
import { z } from 'zod'
import { defineRoute, jsonAnswer, type RouteDeclaration } from '../../http/index.ts'
import { streamPath } from '../subscriptions/index.ts'
import { taxonomyAttribution } from './clusters.ts'
import type { IntentDeps } from './deps.ts'
import { publishedEvent } from './event-schema.ts'
import { widest } from './plan.ts'
import { privacyStatement } from './privacy.ts'
import { privacySchema, type SignalDeps, signalRoute } from './signal-route.ts'
import { eventsBetween, type IntentEvent } from './store.ts'
import { eventId, parseEventId } from './tick-event.ts'

const hourMs = 3_600_000
const pageMax = 500

export function freeRoutes(deps: SignalDeps): RouteDeclaration[] {
  return [sampleRoute(deps), clustersRoute(deps), signalRoute(deps)]
}

/** The hour that ended a day ago: what subscribers read then. */
function sampleRoute(deps: SignalDeps): RouteDeclaration {
  return defineRoute({
    id: 'market.intents.sample',
    main: true,
    area: 'C',
    method: 'GET',
    path: `${streamPath}/sample`,
    summary: 'One hour of the intent stream, a day old, free',
    description: 'The signed events of one hour, exactly as subscribers got them a day ago. Page with cursor.',
    query: z.strictObject({
      limit: z
        .string()
        .regex(/^[1-9][0-9]{0,2}$/, 'must be 1 to 500')
        .refine((text) => Number(text) <= pageMax, 'must be 1 to 500')
        .optional(),
      cursor: z
        .string()
        .refine((text) => parseEventId(text) !== undefined, 'must be a next_cursor')
        .optional(),
    }),
    output: z.strictObject({
      data: z.array(publishedEvent),
      next_cursor: z.string().nullable(),
      from_at: z.string(),
      to_at: z.string(),
      note: z.string().nullable(),
      privacy: privacySchema,
      attribution: z.string(),
      synthetic: z.boolean(),
    }),
    example: {
      query: { limit: '100' },
      output: {
        data: [],
        next_cursor: null,
        from_at: '2026-01-01T09:00:00.000Z',
        to_at: '2026-01-01T10:00:00.000Z',
        note: emptyNote,
        privacy: privacyStatement(deps.settings, widest),
        attribution: taxonomyAttribution,
        synthetic: deps.demo,
      },
    },
    next: streamPath,
    cacheSeconds: 5,
    access: {
      kind: 'free',
      handle: async (input) => {
        const { limit = '100', cursor } = input.query as { limit?: string; cursor?: string }
        const toMs = Math.floor((deps.clock.nowMs() - 24 * hourMs) / hourMs) * hourMs
        const after = parseEventId(cursor ?? '') ?? 0
        const count = Number(limit)
        const events = await eventsBetween(deps.database, toMs - hourMs, toMs, after, count + 1)
        const shown = events.slice(0, count)
        const last = shown.at(-1)
        const members = {
          next_cursor: events.length > count && last ? eventId(last.seq) : null,
          from_at: toRfc3339(toMs - hourMs),
          to_at: toRfc3339(toMs),
          note: noteOf(events, after),
          privacy: privacyStatement(deps.settings, deps.feed.plan()),
          attribution: taxonomyAttribution,
          synthetic: deps.demo || events.some(({ synthetic }) => synthetic),
        }
        // Events go out byte for byte as they were signed.
        const data = `"data":[${shown.map(({ event }) => event).join(',')}]`
        const others = Object.entries(members).map(
          ([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`,
        )
        const body = `{${[data, ...others].join(',')}}`
        return { status: 200, contentType: 'application/json', body }
      },
    },
  })
}

const emptyNote = 'Nothing was published in this hour: too few agents searched.'

function noteOf(events: readonly IntentEvent[], after: number): string | null {
  if (events.some(({ cluster }) => cluster !== null) || after > 0) return null
  return emptyNote
}

function clustersRoute({ clusterTable }: IntentDeps): RouteDeclaration {
  const data = clusterTable.nodes.map(({ id, name, parentId, tier, source }) => ({
    id,
    name,
    parent: parentId,
    tier,
    source,
  }))
  return defineRoute({
    id: 'market.intents.clusters',
    area: 'C',
    method: 'GET',
    path: `${streamPath}/clusters`,
    summary: 'The topics that demand is counted for',
    description: 'Nodes of the IAB Content Taxonomy 3.1 without the sensitive ones, and those of the operator.',
    output: z.strictObject({
      data: z.array(
        z.strictObject({
          id: z.string(),
          name: z.string(),
          parent: z.string().nullable(),
          tier: z.number(),
          source: z.enum(['iab', 'operator']),
        }),
      ),
      next_cursor: z.null(),
      attribution: z.string(),
    }),
    example: { output: { data: data.slice(0, 2), next_cursor: null, attribution: taxonomyAttribution } },
    next: `${streamPath}/sample`,
    cacheSeconds: 5,
    access: {
      kind: 'free',
      handle: async () => jsonAnswer({ data, next_cursor: null, attribution: taxonomyAttribution }),
    },
  })
}
