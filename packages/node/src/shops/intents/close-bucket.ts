import type { Address } from '@assay/protocol/address'
import type { Sql, Tx } from '@assay/till/store/database'
import { countDemand, type PaidSearch } from './count-demand.ts'
import type { IntentDeps } from './deps.ts'
import { peersFor } from './peers/read-peers.ts'
import { addNoise, bucketEpsilonMicro, readBudget, spendBudget } from './privacy.ts'
import { type IntentEvent, lastBucketEndMs, lockIntents, newestOf, newestSeq, publishEvents } from './store.ts'
import { bucketEvent, type Span, tickEvent } from './tick-event.ts'

/** Sales are dated before they are committed: a bucket waits a moment for those that are on their way. */
export const graceMs = 3_000
/** Buckets closed in one run; the next run goes on. */
const bucketsMax = 50

/** Closes every bucket that is over, each in its own transaction. Gives how many. */
export async function closeBuckets(deps: IntentDeps, signal?: AbortSignal): Promise<number> {
  for (let closed = 0; closed < bucketsMax; closed += 1) if (signal?.aborted || !(await closeNext(deps))) return closed
  return bucketsMax
}

/**
 * The next bucket, counted, made noisy, signed, logged and published, or nothing at all. Anyone who comes second waits for
 * the lock and finds it done; a process that dies leaves no trace of a bucket half closed.
 */
async function closeNext(deps: IntentDeps): Promise<boolean> {
  return deps.database.transaction(async (tx) => {
    await lockIntents(tx)
    const next = await nextSpan(deps, tx)
    if (!next) return false
    const { span, skippedFromMs } = next
    const searches = await searchesIn(deps, tx, span)
    const paidFor = await spendBudget(tx, deps.settings, span.startsAtMs)
    const cells = paidFor
      ? countDemand(searches.list, deps.classifier, deps.settings.clustersPerAgent).flatMap(
          (cell) => addNoise(deps.rng, deps.settings, cell) ?? [],
        )
      : []
    const spentMicro = (await readBudget(tx, span.startsAtMs))?.spentMicro ?? bucketEpsilonMicro(deps.settings)
    const full = { ...span, synthetic: deps.demo || searches.synthetic }
    const before = await newestOf(
      tx,
      cells.map(({ cluster }) => cluster),
    )
    const peers = await peersFor(
      tx,
      deps,
      new Map(cells.map(({ cluster, demand }) => [cluster, demand])),
      span.endsAtMs,
    )
    const publishedAtMs = deps.clock.nowMs()
    let seq = await newestSeq(tx)
    const events: IntentEvent[] = cells.map((cell) => {
      seq += 1
      const { event, ewma } = tickEvent(deps, seq, full, cell, before.get(cell.cluster), publishedAtMs, peers)
      return { ...full, seq, cluster: cell.cluster, demand: cell.demand, bonded: cell.bonded, ewma, event }
    })
    seq += 1
    const closing = {
      publishedCells: cells.length,
      withheld: paidFor ? null : ('privacy_budget' as const),
      spentMicro,
      skippedFromMs,
      peers,
      ownClusters: new Set(cells.map(({ cluster }) => cluster)),
    }
    const event = bucketEvent(deps, seq, full, closing, publishedAtMs)
    await publishEvents(
      tx,
      [...events, { ...full, seq, cluster: null, demand: null, bonded: null, ewma: null, event }],
      publishedAtMs,
    )
    deps.metrics.count('intent_buckets', { outcome: paidFor ? 'published' : 'withheld' })
    return true
  })
}

type NextSpan = { span: Omit<Span, 'synthetic'>; skippedFromMs: number | null }

/** The bucket after the last one, once it is over. A long stretch in which nobody searched is passed over and said so. */
async function nextSpan(deps: IntentDeps, tx: Tx): Promise<NextSpan | undefined> {
  const { bucketMs } = deps.settings
  const nowMs = deps.clock.nowMs()
  const overMs = Math.floor((nowMs - graceMs) / bucketMs) * bucketMs
  const lastMs = await lastBucketEndMs(tx)
  if (lastMs === undefined) return overMs > 0 ? spanOf(overMs - bucketMs, bucketMs, null) : undefined
  if (lastMs > nowMs + 2 * bucketMs) {
    deps.metrics.count('alarms', { alarm: 'intent_clock' })
    deps.log.error({ last_bucket_ends_at: lastMs, now: nowMs }, 'the clock stands before the last published bucket')
  }
  // After a change of the bucket's length the first one may be shorter.
  const startsAtMs = lastMs
  const endsAtMs = (Math.floor(startsAtMs / bucketMs) + 1) * bucketMs
  if (endsAtMs > overMs) return undefined
  if (endsAtMs === overMs) return { span: { startsAtMs, endsAtMs }, skippedFromMs: null }
  const searchedMs = await firstSearchMs(tx, startsAtMs, overMs)
  const targetMs = searchedMs === undefined ? overMs - bucketMs : Math.floor(searchedMs / bucketMs) * bucketMs
  return targetMs > startsAtMs
    ? spanOf(targetMs, bucketMs, startsAtMs)
    : { span: { startsAtMs, endsAtMs }, skippedFromMs: null }
}

const spanOf = (startsAtMs: number, bucketMs: number, skippedFromMs: number | null): NextSpan => ({
  span: { startsAtMs, endsAtMs: startsAtMs + bucketMs },
  skippedFromMs,
})

async function firstSearchMs(sql: Sql, fromMs: number, toMs: number): Promise<number | undefined> {
  const { rows } = await sql.query<{ asked_at: Date | null }>(
    'select min(asked_at) as asked_at from match_query where asked_at >= $1 and asked_at < $2',
    [new Date(fromMs), new Date(toMs)],
  )
  return rows[0]?.asked_at?.getTime()
}

type SearchRow = { payer: Address; query: string; synthetic: boolean }

/** Wallets are looked up once and forgotten with this call. */
async function searchesIn(
  deps: IntentDeps,
  tx: Tx,
  span: Omit<Span, 'synthetic'>,
): Promise<{ list: PaidSearch[]; synthetic: boolean }> {
  const { rows } = await tx.query<SearchRow>(
    'select payer, query, synthetic from match_query where asked_at >= $1 and asked_at < $2',
    [new Date(span.startsAtMs), new Date(span.endsAtMs)],
  )
  const wallets = [...new Set(rows.map(({ payer }) => payer))]
  const { settings, standing } = deps
  const [clusters, bonds] =
    wallets.length === 0
      ? [new Map<Address, string>(), new Map<Address, { micro: bigint; lockedUntilMs: number }>()]
      : [await standing.fundingClusters(tx, wallets), await standing.activeBonds(tx, wallets, span.endsAtMs)]
  const clusterOf = (wallet: Address) => clusters.get(wallet) ?? wallet
  // Wallets of one cluster have one bond.
  const bondOf = new Map<string, bigint>()
  for (const [wallet, { micro, lockedUntilMs }] of bonds)
    if (lockedUntilMs >= span.endsAtMs + settings.bondMs)
      bondOf.set(clusterOf(wallet), (bondOf.get(clusterOf(wallet)) ?? 0n) + micro)
  return {
    list: rows.map(({ payer, query }) => ({
      agent: clusterOf(payer),
      bonded: (bondOf.get(clusterOf(payer)) ?? 0n) >= settings.bondMicro,
      query,
    })),
    synthetic: rows.some(({ synthetic }) => synthetic),
  }
}
