import type { Json } from '@assay/protocol/canonical-json'
import { toRfc3339 } from '@assay/till/kernel/clock'
import { signedEvent } from '../../http/index.ts'
import { streamPath } from '../subscriptions/index.ts'
import type { IntentDeps } from './deps.ts'
import type { NoisyCell } from './noise.ts'
import type { Merged } from './peers/merge-peers.ts'
import type { Plan } from './plan.ts'
import { epsilonText, privacyStatement } from './privacy.ts'
import type { IntentEvent } from './store.ts'

export const tickType = 'market.intent.tick.v1'
export const bucketType = 'market.intent.bucket.v1'

/** The stream is one log; a second one would count apart under another number in front. */
const shard = '0'
export const eventId = (seq: number): string => `${shard}-${seq}`

/** The place an id stands for; undefined for a text that is no id of this stream. */
export function parseEventId(text: string): number | undefined {
  const [, digits] = /^0-(0|[1-9][0-9]{0,14})$/.exec(text) ?? []
  return digits === undefined ? undefined : Number(digits)
}

export type Span = { startsAtMs: number; endsAtMs: number; synthetic: boolean; plan: Plan }

/** The place of an event in the stream, the bucket that it is about, and when it is published. */
export type Publication = { seq: number; span: Span; publishedAtMs: number }

/** What the cluster's newest published event said before. */
export type Before = { demand: number; ewma: number; endsAtMs: number; words: ReadonlyMap<string, number> }

type EventDeps = Pick<IntentDeps, 'jws' | 'apiUrl' | 'settings' | 'clusterTable'>

const rounded = (value: number, digits: number) => Math.round(value * 10 ** digits) / 10 ** digits

/** Half of what was known counts again after the half-life, however long the buckets in between were. */
export function smooth(before: Before | undefined, demand: number, endsAtMs: number, halfLifeMs: number): number {
  if (!before) return demand
  const kept = 0.5 ** (Math.max(0, endsAtMs - before.endsAtMs) / halfLifeMs)
  return rounded(before.ewma * kept + demand * (1 - kept), 6)
}

const changePct = (now: number, before: number | undefined): number | null =>
  before === undefined || before === 0 ? null : rounded((100 * (now - before)) / before, 1)

export function tickEvent(
  deps: EventDeps,
  { seq, span, publishedAtMs }: Publication,
  cell: NoisyCell,
  before: Before | undefined,
  peers?: Merged,
): Pick<IntentEvent, 'cluster' | 'demand' | 'bonded' | 'error' | 'event'> & { ewma: number } {
  const node = deps.clusterTable.byId.get(cell.cluster)
  const ewma = smooth(before, cell.demand, span.endsAtMs, deps.settings.trendMs)
  const { k, epsilon_bucket, noise_scale, error_95 } = privacyStatement(deps.settings, span.plan)
  const data: Json = {
    cluster: {
      id: cell.cluster,
      name: node?.name ?? cell.cluster,
      tier: node?.tier ?? 1,
      parent: node?.parentId ?? null,
      source: node?.source ?? 'operator',
    },
    starts_at: toRfc3339(span.startsAtMs),
    ends_at: toRfc3339(span.endsAtMs),
    demand: cell.demand,
    bonded: cell.bonded,
    error_95: { demand: error_95.demand, bonded: error_95.bonded },
    trend: { ewma: rounded(ewma, 3), change_pct: changePct(cell.demand, before?.demand) },
    rising: cell.words.map(({ word, demand }) => ({
      term: word,
      demand,
      change_pct: changePct(demand, before?.words.get(word)),
    })),
    ...(peers === undefined
      ? {}
      : {
          own: { demand: cell.demand, bonded: cell.bonded },
          peers: peers.clusters.get(cell.cluster) ?? { demand: 0, nodes: 0 },
        }),
    privacy: { k, epsilon_bucket, noise_scale },
    synthetic: span.synthetic,
  }
  return {
    cluster: cell.cluster,
    demand: cell.demand,
    bonded: cell.bonded,
    error: error_95.demand,
    ewma,
    event: sign(deps, { seq, type: tickType, subject: cell.cluster, timeMs: publishedAtMs }, data),
  }
}

export type BucketClosing = {
  publishedCells: number
  /** Demand of the broadest topics that are shown, summed: no agent is in two of them. */
  totalDemand: number
  withheld: 'privacy_budget' | null
  spentMicro: bigint
  /** Time before this bucket that was passed over: no node was running, or the clock leapt. */
  skippedFromMs: number | null
  /** Topics of which peers alone had something to say, and who was asked. */
  peers?: Merged | undefined
  ownClusters?: ReadonlySet<string>
}

/** Says that the bucket is complete, so that silence about a cluster means: too few agents. */
export function bucketEvent(
  deps: EventDeps,
  { seq, span, publishedAtMs }: Publication,
  closing: BucketClosing,
): string {
  const data: Json = {
    starts_at: toRfc3339(span.startsAtMs),
    ends_at: toRfc3339(span.endsAtMs),
    published_clusters: closing.publishedCells,
    total_demand: closing.totalDemand,
    withheld: closing.withheld,
    skipped_from_at: closing.skippedFromMs === null ? null : toRfc3339(closing.skippedFromMs),
    ...(closing.peers === undefined ? {} : { peers: peersSaid(deps, closing.peers, closing.ownClusters) }),
    privacy: {
      ...privacyStatement(deps.settings, span.plan),
      epsilon_spent_today: epsilonText(closing.spentMicro),
    } as Json,
    synthetic: span.synthetic,
  }
  return sign(deps, { seq, type: bucketType, subject: 'all', timeMs: publishedAtMs }, data)
}

function peersSaid({ settings }: EventDeps, merged: Merged, own: ReadonlySet<string> = new Set()): Json {
  return {
    nodes: merged.peers.map(({ did, endsAtMs, state }) => ({
      did,
      ends_at: endsAtMs === null ? null : toRfc3339(endsAtMs),
      state,
    })),
    clusters: [...merged.clusters].filter(([id]) => !own.has(id)).map(([id, part]) => ({ id, ...part })),
    left_out: merged.outliers,
    bounds: `published by each peer and signed by it; a peer counts in a topic for at most ${settings.peerCap} times the own figure, or ${settings.k} where there is none; never part of an index`,
  }
}

type EventHead = { seq: number; type: string; subject: string; timeMs: number }

function sign(deps: EventDeps, { seq, type, subject, timeMs }: EventHead, data: Json): string {
  const attributes = {
    id: eventId(seq),
    source: `${deps.apiUrl}${streamPath}`,
    type,
    subject,
    time: toRfc3339(timeMs),
  }
  return signedEvent(deps.jws, attributes, JSON.stringify(data))
}
