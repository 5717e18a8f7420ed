import type { Micro } from '@assay/protocol/money'
import { z } from 'zod'
import { parseMembers, SettingsError, usd, usdAboveZero, type Variables } from '../shop-settings.ts'
import type { OwnCluster } from './clusters.ts'
import type { Plan } from './plan.ts'

export const intentsVariables = {
  INTENTS: {
    kind: 'json',
    default: '{}',
    description:
      'JSON object with settings of the intent stream: buckets, privacy, own topics, simulated agents; docs/intents.md lists them.',
    secret: false,
  },
  NATS_URL: {
    kind: 'text',
    must: [/^(nats|tls):\/\//, 'must be a nats:// URL'],
    description:
      'A NATS server with JetStream, such as `nats://10.0.0.5:4222` or with a login `nats://user:password@10.0.0.5:4222`, that carries the intent stream between machines. Without it PostgreSQL does.',
    secret: true,
  },
} as const satisfies Variables

export type IntentSettings = {
  /** Length of buckets and depth of topics, where the operator fixed them; otherwise each day's traffic decides. */
  fixedPlan: Plan | undefined
  /** No figure below this is published. */
  k: number
  /** What a day of published figures may tell about any one agent, in millionths of epsilon: all noise follows from it. */
  epsilonDailyMicro: bigint
  /** Streams one subscription may hold open, in all processes together. */
  connections: number
  /** Events kept for a reader that is behind, before some are left out. */
  bufferEvents: number
  replayMs: number
  trendMs: number
  /** A bond counts when it is at least this large and stays locked this long after the bucket. */
  bondMicro: Micro
  bondMs: number
  /** And when its owner spent so much on searches within a week: money that does not come back. */
  spendMicro: Micro
  clusters: readonly OwnCluster[]
  /** Whether peers, and so anybody, may read what was published. */
  share: boolean
  /** Nodes of the mesh whose published demand is shown beside the own, by DID. */
  peers: readonly string[]
  /** One of them counts in a topic for at most so many times the own figure. */
  peerCap: number
  /** Simulated agents of a demo node: how many searches they buy in a second; undefined turns them off. */
  demoCallsPerSecond: number | undefined
}

const dayMs = 86_400_000

const ownCluster = z.strictObject({
  id: z.string().regex(/^[A-Za-z0-9_-]{1,32}$/, 'must be 1 to 32 letters, digits, - or _'),
  name: z.string().min(1).max(80),
  parent: z.string().max(32).optional(),
  terms: z.array(z.string().min(1).max(40)).max(50).optional(),
})

const schema = (demo: boolean) =>
  z.strictObject({
    bucket_seconds: z
      .number()
      .int()
      .min(1)
      .max(86_400)
      .refine((seconds) => 86_400 % seconds === 0, 'must divide a day')
      .optional(),
    tiers: z.number().int().min(1).max(4).optional(),
    k: z
      .number()
      .int()
      .min(demo ? 5 : 10)
      .max(10_000)
      .default(demo ? 5 : 10),
    epsilon_daily: z.number().positive().max(1_000_000).optional(),
    connections: z.number().int().min(1).max(20_000).default(5),
    buffer_events: z.number().int().min(16).max(10_000).default(512),
    replay_hours: z.number().min(24).max(8_760).default(48),
    trend_hours: z.number().positive().max(8_760).default(6),
    bond_usd: usdAboveZero.default(10_000_000n),
    spend_usd: usd.default(demo ? 0n : 5_000_000n),
    bond_days: z
      .number()
      .min(0)
      .max(365)
      .default(demo ? 5 : 31),
    clusters: z.array(ownCluster).max(200).default([]),
    share: z.boolean().default(false),
    peers: z
      .array(z.string().regex(/^did:web:[A-Za-z0-9.%-]{1,200}$/, 'must be the did:web of a node'))
      .max(16)
      .default([]),
    peer_cap: z.number().min(0).max(10).default(1),
    demo: z.enum(['on', 'off']).default('on'),
    demo_calls_per_second: z.number().positive().max(20).default(6),
  })
const demoSchema = schema(true)
const productionSchema = schema(false)

/** A demo's buckets are short and its agents invented, so its default budget is one that lets their movement show. */
const demoEpsilonPerBucket = 24
const demoBucketSeconds = 30
const defaultTiers = 3

/** From the JSON of `INTENTS`. */
export function parseIntentSettings(given: unknown, demo: boolean): IntentSettings {
  const data = parseMembers('INTENTS', demo ? demoSchema : productionSchema, given)
  const bucketSeconds = data.bucket_seconds ?? (demo ? demoBucketSeconds : undefined)
  if (bucketSeconds === undefined && data.tiers !== undefined)
    throw new SettingsError(['INTENTS: tiers is fixed together with bucket_seconds'])
  const epsilonDaily = data.epsilon_daily ?? (demo ? (demoEpsilonPerBucket * 86_400) / (bucketSeconds ?? 86_400) : 1)
  return {
    fixedPlan:
      bucketSeconds === undefined ? undefined : { bucketMs: bucketSeconds * 1000, tiers: data.tiers ?? defaultTiers },
    k: data.k,
    epsilonDailyMicro: BigInt(Math.max(1, Math.floor(epsilonDaily * 1_000_000))),
    connections: data.connections,
    bufferEvents: data.buffer_events,
    replayMs: data.replay_hours * 3_600_000,
    trendMs: data.trend_hours * 3_600_000,
    bondMicro: data.bond_usd,
    bondMs: data.bond_days * dayMs,
    spendMicro: data.spend_usd,
    clusters: data.clusters,
    share: data.share,
    peers: [...new Set(data.peers)],
    peerCap: data.peer_cap,
    demoCallsPerSecond: demo && data.demo === 'on' ? data.demo_calls_per_second : undefined,
  }
}
