import type { Address } from '@assay/protocol/address'
import type { Sql, Tx } from '@assay/till/store/database'
import { countDemand, type PaidSearch } from './count-demand.ts'
import { dayStartMs, planOfDay } from './day-plan.ts'
import type { IntentDeps } from './deps.ts'
import { type NoisyCell, publishable } from './noise.ts'
import { peersFor } from './peers/read-peers.ts'
import { bucketEpsilonMicro, type Plan } from './plan.ts'
import { readBudget, spendBudget } from './privacy.ts'
import {
  closerOf,
  type IntentEvent,
  lastBucketEndMs,
  lockIntents,
  newestOf,
  newestSeq,
  publishEvents,
} from './store.ts'
import { tallySpend } from './tally-spend.ts'
import { bucketEvent, type Span, tickEvent } from './tick-event.ts'

/** Sales are dated before they are committed: a bucket waits a moment for those that are on their way. */
export const graceMs = 3_000
const plannedMs = `(select bucket_ms from intent_plan where day = (ends_at at time zone 'UTC')::date)`

/** Whether the bucket after the last one is over, by its fixed width or the plan of its day, and the newest event, which is announced. */
export const bucketDueSql = (fixedMs?: number): string => {
  const width = fixedMs ?? plannedMs
  return `case when exists (select from (select ends_at from intent_bucket order by ends_at desc limit 1) last
      where to_timestamp((floor(extract(epoch from ends_at) * 1000 / ${width}) + 1) * ${width} / 1000)
        > $1 - interval '${graceMs} milliseconds')
    then (select max(seq) from intent_event)::text else 'true' end`
}

/** Buckets closed in one run; the next run goes on. */
const bucketsMax = 50

/** Closes every bucket that is over, each in its own transaction. Returns how many. */
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
    const paidFor = await spendBudget(tx, deps.settings, span.plan, span.startsAtMs)
    const cells = paidFor ? noisyCells(deps, span.plan, searches.list) : []
    const full = { ...span, synthetic: deps.demo || searches.synthetic }
    const before = await newestOf(
      tx,
      cells.map(({ cluster }) => cluster),
    )
    const demands = new Map(cells.map(({ cluster, demand }) => [cluster, demand]))
    const peers = await peersFor(tx, deps, demands, span)
    const publishedAtMs = deps.clock.nowMs()
    let seq = await newestSeq(tx)
    const events: IntentEvent[] = cells.map((cell) => {
      seq += 1
      return {
        ...full,
        seq,
        ...tickEvent(deps, { seq, span: full, publishedAtMs }, cell, before.get(cell.cluster), peers),
      }
    })
    seq += 1
    const closing = {
      publishedCells: cells.length,
      totalDemand: deps.clusterTable.childrenOf(null).reduce((sum, { id }) => sum + (demands.get(id) ?? 0), 0),
      withheld: paidFor ? null : ('privacy_budget' as const),
      spentMicro: (await readBudget(tx, span.startsAtMs))?.spentMicro ?? bucketEpsilonMicro(deps.settings, span.plan),
      skippedFromMs,
      peers,
      ownClusters: new Set(demands.keys()),
    }
    const event = bucketEvent(deps, { seq, span: full, publishedAtMs }, closing)
    await publishEvents(tx, [...events, closerOf(full, seq, event)], publishedAtMs)
    deps.metrics.count('intent_buckets', { outcome: paidFor ? 'published' : 'withheld' })
    return true
  })
}

function noisyCells(deps: IntentDeps, plan: Plan, searches: readonly PaidSearch[]): NoisyCell[] {
  const { childrenOf } = deps.clusterTable
  const { wordsOf } = deps.classifier
  const cells = countDemand(searches, deps.classifier, plan.tiers)
  return publishable(deps.rng, deps.settings, plan, { childrenOf, wordsOf }, cells)
}

type Bucket = Omit<Span, 'synthetic'>
type NextSpan = { span: Bucket; skippedFromMs: number | null }

/** The bucket after the last one, once it is over. A long stretch in which nobody searched is passed over and said so. */
async function nextSpan(deps: IntentDeps, tx: Tx): Promise<NextSpan | undefined> {
  const nowMs = deps.clock.nowMs()
  const overMs = nowMs - graceMs
  const lastMs = await lastBucketEndMs(tx)
  if (lastMs === undefined) return { span: await lastOver(deps, tx, overMs), skippedFromMs: null }
  // After a change of the bucket's length the first one may be shorter.
  const span = { ...bucketAt(await planOfDay(tx, deps, lastMs), lastMs), startsAtMs: lastMs }
  if (lastMs > nowMs + 2 * span.plan.bucketMs) {
    deps.metrics.count('alarms', { alarm: 'intent_clock' })
    deps.log.error({ last_bucket_ends_at: lastMs, now: nowMs }, 'the clock is before the last published bucket')
  }
  if (span.endsAtMs > overMs) return undefined
  const searchedMs = await firstSearchMs(tx, lastMs, overMs)
  if (searchedMs !== undefined && searchedMs < span.endsAtMs) return { span, skippedFromMs: null }
  // A day is planned after the one before it was published; in the days between here and there nothing was.
  const newest = await lastOver(deps, tx, overMs)
  const searched = searchedMs === undefined ? newest : bucketAt(await planOfDay(tx, deps, searchedMs), searchedMs)
  const target = searched.endsAtMs > overMs ? newest : searched
  return target.startsAtMs > lastMs ? { span: target, skippedFromMs: lastMs } : { span, skippedFromMs: null }
}

const bucketAt = (plan: Plan, atMs: number): Bucket => {
  const startsAtMs = Math.floor(atMs / plan.bucketMs) * plan.bucketMs
  return { startsAtMs, endsAtMs: startsAtMs + plan.bucketMs, plan }
}

/** The newest bucket that is over, if every day is cut as it is planned. */
async function lastOver(deps: IntentDeps, tx: Tx, overMs: number): Promise<Bucket> {
  const open = bucketAt(await planOfDay(tx, deps, overMs), overMs)
  return open.startsAtMs > dayStartMs(overMs)
    ? bucketAt(open.plan, open.startsAtMs - 1)
    : bucketAt(await planOfDay(tx, deps, open.startsAtMs - 1), open.startsAtMs - 1)
}

async function firstSearchMs(sql: Sql, fromMs: number, toMs: number): Promise<number | undefined> {
  const { rows } = await sql.query<{ asked_at: Date | null }>(
    'select min(asked_at) as asked_at from match_query where asked_at >= $1 and asked_at < $2',
    [new Date(fromMs), new Date(toMs)],
  )
  return rows[0]?.asked_at?.getTime()
}

type SearchRow = { payer: Address; query: string; synthetic: boolean }

/** Wallets are looked up once in each call. */
async function searchesIn(deps: IntentDeps, tx: Tx, span: Bucket): Promise<{ list: PaidSearch[]; synthetic: boolean }> {
  const { rows } = await tx.query<SearchRow>(
    'select payer, query, synthetic from match_query where asked_at >= $1 and asked_at < $2',
    [new Date(span.startsAtMs), new Date(span.endsAtMs)],
  )
  const { settings, walletFacts } = deps
  const wallets = [...new Set(rows.map(({ payer }) => payer))]
  const interested = wallets.length === 0 ? [] : await walletFacts.interested(tx, span)
  const clusters = await walletFacts.fundingClusters(tx, [...new Set([...wallets, ...interested])])
  const bonds = await walletFacts.activeBonds(tx, wallets, span.endsAtMs)
  const spent = await tallySpend(tx, rows, span.startsAtMs)
  const clusterOf = (wallet: Address) => clusters.get(wallet) ?? wallet
  // Wallets of one cluster have one bond.
  const bondOf = new Map<string, bigint>()
  for (const [wallet, { micro, lockedUntilMs }] of bonds)
    if (lockedUntilMs >= span.endsAtMs + settings.bondMs)
      bondOf.set(clusterOf(wallet), (bondOf.get(clusterOf(wallet)) ?? 0n) + micro)
  const spentBy = new Map<string, bigint>()
  for (const [wallet, micro] of spent) spentBy.set(clusterOf(wallet), (spentBy.get(clusterOf(wallet)) ?? 0n) + micro)
  const isBonded = (agent: string) =>
    (bondOf.get(agent) ?? 0n) >= settings.bondMicro && (spentBy.get(agent) ?? 0n) >= settings.spendMicro
  const buyers = new Set(interested.map(clusterOf))
  return {
    // What somebody asks says nothing to those who pay for the answer, if it was asked by one of them.
    list: rows.flatMap(({ payer, query }) => {
      const agent = clusterOf(payer)
      if (buyers.has(agent)) return []
      return [{ agent, bonded: isBonded(agent), query }]
    }),
    synthetic: rows.some(({ synthetic }) => synthetic),
  }
}
