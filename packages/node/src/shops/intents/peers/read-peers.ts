import type { Sql } from '@assay/till/store/database'
import type { PeerReader } from '../../ports.ts'
import { planInForce } from '../day-plan.ts'
import type { IntentDeps } from '../deps.ts'
import type { Plan } from '../plan.ts'
import { type Merged, mergePeers, type PeerBucket } from './merge-peers.ts'
import { readSharedEvent, sharedPath } from './shared-event.ts'

type Deps = Pick<IntentDeps, 'database' | 'clock' | 'log' | 'metrics' | 'settings' | 'clusterTable' | 'demo'>

const eventsMax = 50
const keptMs = 48 * 3_600_000
/** Buckets of a peer that make its habit. */
const historyBuckets = 24
/** Figures older than so many buckets say nothing of now. */
const staleBuckets = 3
const skewMs = 5_000

/** Asks every named peer for what it shared since the last time. One that fails is asked again next time. */
export async function readPeers(deps: Deps, reader: PeerReader): Promise<void> {
  const { settings, clock, database, metrics } = deps
  for (const did of settings.peers) {
    const outcome = await readPeer(deps, reader, did).catch((error: unknown) => {
      deps.log.warn({ peer: did, error: String(error) }, 'the demand of a peer could not be read')
      return 'failed'
    })
    metrics.count('intent_peer_reads', { outcome })
  }
  await database.query('delete from intent_peer_event where taken_at < $1', [new Date(clock.nowMs() - keptMs)])
}

async function readPeer(deps: Deps, reader: PeerReader, did: string): Promise<string> {
  const answer = await reader.read(did, sharedPath)
  if (answer === undefined) return 'unreachable'
  const { data } = (answer.value ?? {}) as { data?: unknown }
  if (!Array.isArray(data)) return 'malformed'
  const { bucketMs } = await planInForce(deps.database, deps)
  let outcome = 'ok'
  for (const text of data.slice(0, eventsMax)) {
    const bucket = typeof text === 'string' ? readSharedEvent(text, answer) : undefined
    if (bucket === undefined) {
      outcome = 'unsigned'
      continue
    }
    const { startsAtMs, endsAtMs, synthetic } = bucket
    // Other lengths cannot be laid over ours, and nobody has counted what is not over yet.
    if (endsAtMs - startsAtMs !== bucketMs || endsAtMs % bucketMs !== 0) outcome = 'other_buckets'
    else if (endsAtMs > deps.clock.nowMs() + skewMs) outcome = 'early'
    // Nobody would look at it, and there is no end to the past that a peer could tell of.
    else if (endsAtMs <= deps.clock.nowMs() - historyBuckets * bucketMs) outcome = 'old'
    // What was made up elsewhere is not shown here as what agents asked for.
    else if (synthetic && !deps.demo) outcome = 'synthetic'
    else await keep(deps, did, { ...bucket, text: text as string })
  }
  return outcome
}

/** The first report about a bucket counts: a peer cannot change it after it has seen ours. */
async function keep(
  { database, clock, clusterTable }: Deps,
  did: string,
  given: { startsAtMs: number; endsAtMs: number; counts: ReadonlyMap<string, number>; text: string },
): Promise<void> {
  const counts = [...given.counts].filter(([cluster]) => clusterTable.byId.get(cluster)?.source === 'iab')
  await database.query(
    `insert into intent_peer_event (did, starts_at, ends_at, counts, event, taken_at) values ($1, $2, $3, $4, $5, $6)
     on conflict do nothing`,
    [
      did,
      new Date(given.startsAtMs),
      new Date(given.endsAtMs),
      JSON.stringify(Object.fromEntries(counts)),
      given.text,
      new Date(clock.nowMs()),
    ],
  )
}

/** What peers add to a bucket of this node; undefined where no peers are named. */
export async function peersFor(
  sql: Sql,
  { settings }: Pick<IntentDeps, 'settings'>,
  own: ReadonlyMap<string, number>,
  { endsAtMs, plan: { bucketMs } }: { endsAtMs: number; plan: Plan },
): Promise<Merged | undefined> {
  if (settings.peers.length === 0) return undefined
  const { rows } = await sql.query<{ did: string; ends_at: Date; counts: Record<string, number> }>(
    'select did, ends_at, counts from intent_peer_event where did = any($1) and ends_at > $2 and ends_at <= $3',
    [settings.peers, new Date(endsAtMs - historyBuckets * bucketMs), new Date(endsAtMs)],
  )
  const histories = new Map<string, PeerBucket[]>(settings.peers.map((did) => [did, []]))
  for (const { did, ends_at, counts } of rows)
    histories.get(did)?.push({ did, endsAtMs: ends_at.getTime(), counts: new Map(Object.entries(counts)) })
  return mergePeers(own, histories, endsAtMs, {
    k: settings.k,
    capTimes: settings.peerCap,
    staleMs: staleBuckets * bucketMs,
  })
}
