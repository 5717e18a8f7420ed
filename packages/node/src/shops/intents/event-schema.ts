import { z } from 'zod'
import { privacySchema } from './signal-route.ts'
import { bucketType, tickType } from './tick-event.ts'

const changePct = z.number().nullable()
const peerPart = z.strictObject({ demand: z.int(), nodes: z.int() })
const span = { starts_at: z.string(), ends_at: z.string() }

const tickData = z.strictObject({
  cluster: z.strictObject({
    id: z.string(),
    name: z.string(),
    tier: z.int(),
    parent: z.string().nullable(),
    source: z.enum(['iab', 'operator']),
  }),
  ...span,
  demand: z.int().describe('Distinct agents, noisy.'),
  bonded: z.int().describe('Those of them with a bond, noisy; never more than demand.'),
  error_95: z.strictObject({ demand: z.number(), bonded: z.number() }),
  trend: z.strictObject({ ewma: z.number(), change_pct: changePct }),
  rising: z.array(z.strictObject({ term: z.string(), demand: z.int(), change_pct: changePct })),
  own: z.strictObject({ demand: z.int(), bonded: z.int() }).optional().describe('Only where peers are named.'),
  peers: peerPart.optional(),
  privacy: z.strictObject({ k: z.int(), epsilon_bucket: z.string(), noise_scale: z.number() }),
  synthetic: z.boolean(),
})

const bucketData = z.strictObject({
  ...span,
  published_clusters: z.int(),
  total_demand: z.int(),
  withheld: z.literal('privacy_budget').nullable(),
  skipped_from_at: z.string().nullable(),
  peers: z
    .strictObject({
      nodes: z.array(
        z.strictObject({
          did: z.string(),
          ends_at: z.string().nullable(),
          state: z.enum(['counted', 'stale', 'silent']),
        }),
      ),
      clusters: z.array(peerPart.extend({ id: z.string() })),
      left_out: z.int(),
      bounds: z.string(),
    })
    .optional(),
  privacy: privacySchema.extend({ epsilon_spent_today: z.string() }),
  synthetic: z.boolean(),
})

const eventOf = <Type extends string, Data extends z.ZodType>(type: Type, data: Data) =>
  z.strictObject({
    specversion: z.literal('1.0'),
    id: z.string(),
    source: z.string(),
    type: z.literal(type),
    subject: z.string(),
    time: z.string(),
    datacontenttype: z.literal('application/json'),
    datasha256: z.string(),
    signature: z.string().describe('Compact EdDSA JWS over the attributes; datasha256 is the digest of data as sent.'),
    data,
  })

/** What is published: everything else in the stream is about the connection. */
export const publishedEvent = z.discriminatedUnion('type', [
  eventOf(tickType, tickData),
  eventOf(bucketType, bucketData),
])
