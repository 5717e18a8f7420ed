import type { Json } from '@assay/protocol/canonical-json'
import { splitEvent } from '@assay/protocol/event-text'
import { sha256 } from '@assay/till/kernel/bytes'
import { toRfc3339 } from '@assay/till/kernel/clock'
import { verifyJws } from '@assay/till/signing'
import { z } from 'zod'
import { signedEvent } from '../../../http/index.ts'
import { streamPath } from '../../subscriptions/index.ts'
import type { IntentDeps } from '../deps.ts'
import { epsilonText } from '../privacy.ts'
import type { IntentEvent } from '../store.ts'

export const sharedType = 'market.intent.shared.v1'
export const sharedPath = `${streamPath}/shared`

/** What a node tells its peers of one closed bucket: figures that its own stream has published, and nothing else. */
export function sharedEvent(
  deps: Pick<IntentDeps, 'jws' | 'apiUrl' | 'settings' | 'clusterTable'>,
  closer: IntentEvent,
  ticks: readonly IntentEvent[],
): string {
  const data: Json = {
    starts_at: toRfc3339(closer.startsAtMs),
    ends_at: toRfc3339(closer.endsAtMs),
    // Topics of the operator's own list mean nothing elsewhere.
    counts: ticks.flatMap(({ cluster, demand }) =>
      cluster !== null && demand !== null && deps.clusterTable.byId.get(cluster)?.source === 'iab'
        ? [{ cluster, demand }]
        : [],
    ),
    privacy: { k: deps.settings.k, epsilon_daily: epsilonText(deps.settings.epsilonDailyMicro) },
    synthetic: closer.synthetic,
  }
  const attributes = {
    id: `shared-${closer.seq}`,
    source: `${deps.apiUrl}${streamPath}`,
    type: sharedType,
    subject: 'all',
    time: toRfc3339(closer.endsAtMs),
  }
  return signedEvent(deps.jws, attributes, JSON.stringify(data))
}

const attributesOf = z.object({
  specversion: z.literal('1.0'),
  id: z.string().max(64),
  source: z.string().max(300),
  type: z.literal(sharedType),
  subject: z.string().max(64),
  time: z.string().max(40),
  datacontenttype: z.literal('application/json'),
  datasha256: z.string().regex(/^[0-9a-f]{64}$/),
})

const dataOf = z.object({
  starts_at: z.iso.datetime(),
  ends_at: z.iso.datetime(),
  counts: z.array(z.object({ cluster: z.string().max(32), demand: z.int().min(0).max(1_000_000_000) })).max(2_000),
  synthetic: z.boolean(),
})

export type PeerKeys = readonly { kid: string; x: string }[]

export type SharedBucket = {
  startsAtMs: number
  endsAtMs: number
  counts: ReadonlyMap<string, number>
  synthetic: boolean
}

/** The figures of an event that this peer signed with a key its address publishes; undefined for anything else. */
export function readSharedEvent(text: string, peer: { address: string; keys: PeerKeys }): SharedBucket | undefined {
  const event = splitEvent(text)
  if (typeof event?.attributes.signature !== 'string') return undefined
  const { signature, ...given } = event.attributes
  try {
    const parts = verifyJws(signature, (kid) => peer.keys.find((key) => kid.endsWith(`#${key.kid}`))?.x)
    if (parts === undefined) return undefined
    const signed = attributesOf.parse(JSON.parse(parts.json))
    if (JSON.stringify(attributesOf.parse(given)) !== JSON.stringify(signed)) return undefined
    if (signed.source !== `${peer.address}${streamPath}`) return undefined
    if (sha256(event.data).toString('hex') !== signed.datasha256) return undefined
    const { starts_at, ends_at, counts, synthetic } = dataOf.parse(JSON.parse(event.data))
    return {
      startsAtMs: Date.parse(starts_at),
      endsAtMs: Date.parse(ends_at),
      counts: new Map(counts.map(({ cluster, demand }) => [cluster, demand])),
      synthetic,
    }
  } catch {
    return undefined
  }
}
