import { toRfc3339 } from '@assay/till/kernel/clock'
import { z } from 'zod'
import { defineRoute, jsonAnswer, type RouteDeclaration, type Unavailable } from '../../http/index.ts'
import { streamPath } from '../subscriptions/index.ts'
import type { IntentDeps } from './deps.ts'
import type { Feed } from './feed.ts'
import { promisedError, widest } from './plan.ts'
import { privacyStatement } from './privacy.ts'
import { percent } from './signal.ts'
import { type SimulatedDay, simulateDay } from './simulate-signal.ts'

export type SignalDeps = IntentDeps & { feed: Pick<Feed, 'signal' | 'plan'>; unavailable(): Unavailable | undefined }

export const privacySchema = z.strictObject({
  k: z.number(),
  unit: z.string(),
  contribution: z.string(),
  mechanism: z.string(),
  epsilon_bucket: z.string(),
  epsilon_daily: z.string(),
  bucket_seconds: z.number(),
  tiers: z.number(),
  noise_scale: z.number(),
  error_95: z.strictObject({ demand: z.number(), bonded: z.number(), terms: z.number() }),
  threshold: z.number(),
})

const trafficSteps = [30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 1_000_000]

const simulated = z.strictObject({
  agents_daily: z.number(),
  bucket_seconds: z.number(),
  tiers: z.number(),
  figures: z.number().describe('Topics shown in a bucket, on average.'),
  error_pct: z.number().nullable(),
  covered_pct: z.number().nullable().describe('Figures whose error bar held the truth.'),
  sold: z.boolean(),
})

const showDay = ({ agents, plan, figures, error, covered, sold }: SimulatedDay) => ({
  agents_daily: agents,
  bucket_seconds: plan.bucketMs / 1000,
  tiers: plan.tiers,
  figures: Math.round(figures * 10) / 10,
  error_pct: error === null ? null : percent(error),
  covered_pct: covered === null ? null : percent(covered),
  sold,
})

/** Whether the stream is worth its price: what it was worth for a day, and what it would be worth with other traffic. */
export function signalRoute(deps: SignalDeps): RouteDeclaration {
  const { clusterTable, rng, settings, clock } = deps
  const topics = { childrenOf: clusterTable.childrenOf, wordsOf: () => [] }
  let days: Promise<ReturnType<typeof showDay>[]> | undefined
  // Nothing but settings enters, so once is enough; others are served between two steps.
  const simulate = async () => {
    const shown = []
    for (const agents of trafficSteps) {
      shown.push(showDay(simulateDay(rng, settings, topics, agents)))
      await clock.sleep(1)
    }
    return shown
  }
  return defineRoute({
    id: 'market.intents.signal',
    area: 'C',
    method: 'GET',
    path: `${streamPath}/signal`,
    summary: 'Whether the intent stream is worth its price: its errors of the last day, and by traffic',
    description:
      'Errors are 95 % errors as a part of the published demand. Above the promised one the stream is not sold.',
    output: z.strictObject({
      promised_error_pct: z.number(),
      sold: z.boolean(),
      reason: z.string().nullable(),
      last_day: z
        .strictObject({ from_at: z.string(), to_at: z.string(), figures: z.number(), error_pct: z.number().nullable() })
        .nullable(),
      privacy: privacySchema,
      simulated: z.array(simulated),
    }),
    example: {
      output: {
        promised_error_pct: percent(promisedError),
        sold: true,
        reason: null,
        last_day: {
          from_at: '2026-01-01T00:00:00.000Z',
          to_at: '2026-01-02T00:00:00.000Z',
          figures: 42,
          error_pct: 12.5,
        },
        privacy: privacyStatement(deps.settings, widest),
        simulated: [],
      },
    },
    next: streamPath,
    cacheSeconds: 5,
    access: {
      kind: 'free',
      handle: async () => {
        days ??= simulate()
        return jsonAnswer({ ...describeSignal(deps), simulated: await days })
      },
    },
  })
}

function describeSignal({ feed, unavailable, settings }: SignalDeps) {
  const signal = feed.signal()
  const down = unavailable()
  return {
    promised_error_pct: percent(promisedError),
    sold: down === undefined,
    reason: down?.detail ?? null,
    last_day: signal
      ? {
          from_at: toRfc3339(signal.fromMs),
          to_at: toRfc3339(signal.toMs),
          figures: signal.figures,
          error_pct: signal.error === null ? null : percent(signal.error),
        }
      : null,
    privacy: privacyStatement(settings, feed.plan()),
  }
}
