import { toRfc3339 } from '@assay/till/kernel/clock'
import { z } from 'zod'
import { defineRoute, jsonAnswer, type RouteDeclaration } from '../../../http/index.ts'
import { isFeedId } from '../feeds/feed.ts'
import type { MatrixDeps } from '../matrix-deps.ts'
import { readQuality } from '../quality/quality-store.ts'
import { testDefinition } from '../quality/test-definition.ts'
import { unknownFeed } from './pull-routes.ts'
import { anyFeedParams } from './schemas.ts'

/** GET /matrix/:feed/quality: what is and what is not known about how good a feed is. */
export function qualityRoute(deps: MatrixDeps): RouteDeclaration {
  return defineRoute({
    id: 'matrix.quality',
    capability: 'equity.squeeze.quality',
    area: 'B',
    method: 'GET',
    path: '/matrix/:feed/quality',
    summary: 'How well a feed predicted what followed, on the data this node holds',
    description:
      'Precision at k, lift over the base rate with an interval, area under precision and recall, Brier, a calibration table and coverage, beside named baselines, by a test fixed in advance. Free.',
    params: anyFeedParams,
    output: z.looseObject({
      feed: z.string(),
      status: z.enum(['measured', 'not_measured', 'pending']),
      test: z.looseObject({}),
    }),
    example: {
      params: { feed: 'squeeze' },
      output: {
        feed: 'squeeze',
        status: 'measured',
        test: testDefinition,
        result: { base_rate: 0.0129, lift: { at_25: 2.1 } },
      },
    },
    next: '/matrix/:feed/live',
    cacheSeconds: 5,
    access: {
      kind: 'free',
      handle: async (input) => {
        const { feed } = input.params as { feed: string }
        if (!isFeedId(feed)) throw unknownFeed()
        const found = await readQuality(deps.database, feed)
        if (!found)
          return jsonAnswer({
            feed,
            status: 'pending',
            why: 'the first measurement is under way',
            test: testDefinition,
            synthetic: false,
          })
        return jsonAnswer({ ...found.document, computed_at: toRfc3339(found.computedAtMs) })
      },
    },
  })
}
