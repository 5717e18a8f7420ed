import { z } from 'zod'
import { defineRoute, jsonAnswer, type RouteDeclaration } from '../../../http/index.ts'
import { streamPath } from '../../subscriptions/index.ts'
import { taxonomyAttribution } from '../clusters.ts'
import { planInForce } from '../day-plan.ts'
import type { IntentDeps } from '../deps.ts'
import { eventsBetween } from '../store.ts'
import { sharedEvent, sharedPath } from './shared-event.ts'

const bucketsShown = 6
const eventsMax = 20_000

/** Only where the operator shares: what is here, anybody can read. */
export function sharedRoute(deps: IntentDeps): RouteDeclaration {
  return defineRoute({
    id: 'market.intents.shared',
    area: 'C',
    method: 'GET',
    path: sharedPath,
    summary: 'Noisy demand of the newest closed buckets, signed, for peers of the mesh',
    description:
      'Counts that the intent stream of this node has published, one signed CloudEvent a bucket, as text. No trend and no terms.',
    output: z.strictObject({
      data: z.array(z.string()),
      next_cursor: z.null(),
      bucket_seconds: z.number(),
      attribution: z.string(),
    }),
    example: {
      output: {
        data: [],
        next_cursor: null,
        bucket_seconds: 3600,
        attribution: taxonomyAttribution,
      },
    },
    next: streamPath,
    cacheSeconds: 1,
    access: { kind: 'free', handle: async () => jsonAnswer(await describe(deps)) },
  })
}

async function describe(deps: IntentDeps) {
  const { bucketMs } = await planInForce(deps.database, deps)
  const nowMs = deps.clock.nowMs()
  const events = await eventsBetween(deps.database, nowMs - bucketsShown * bucketMs, nowMs, 0, eventsMax)
  const closers = events.filter(({ cluster }) => cluster === null)
  return {
    data: closers.map((closer) =>
      sharedEvent(
        deps,
        closer,
        events.filter(({ cluster, endsAtMs }) => cluster !== null && endsAtMs === closer.endsAtMs),
      ),
    ),
    next_cursor: null,
    bucket_seconds: bucketMs / 1000,
    attribution: taxonomyAttribution,
  }
}
