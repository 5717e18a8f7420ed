import { canonicalJson, type Json } from '@assay/protocol/canonical-json'
import { sha256 } from '@assay/till/kernel/bytes'
import { toRfc3339 } from '@assay/till/kernel/clock'
import type { Sql, Tx } from '@assay/till/store/database'
import { appendToLog, entryBytesMax } from '../../tlog/index.ts'
import type { Cluster, PublishedBucket } from '../ports.ts'
import { indexMethodName, type OptionDeps } from './deps.ts'
import { type IndexInput, type IndexMethod, type IndexTick, indexValueE4, sharesAt } from './domain/demand-index.ts'
import { methodNamed, methodsInUse } from './index-method.ts'

/** Options are listed on broad topics only, and on the operator's own; the share of demand is taken among these. */
export function isListable({ tier, source }: Pick<Cluster, 'tier' | 'source'>): boolean {
  return tier <= 2 || source === 'operator'
}

/** A day is the longest bucket that the stream publishes. */
const longestBucketMs = 86_400_000
/** Ticks made at the first start: enough for an estimate of volatility. */
const firstTicks = 300

/** Takes in what the stream published since the last run, and computes and signs the index of every new bucket. */
export async function followIndex(deps: OptionDeps): Promise<number> {
  await takeInputs(deps)
  return deps.database.transaction(async (tx) => {
    // One process at a time: a tick is made and signed once.
    await tx.query(`select pg_advisory_xact_lock(1634952033, 80)`)
    let made = 0
    // A series is settled by the index it was listed on, whatever was set since.
    for (const key of await methodsInUse(tx, deps.settings)) made += await followMethod(deps, tx, key)
    return made
  })
}

async function followMethod(deps: OptionDeps, tx: Tx, key: string): Promise<number> {
  const method = methodNamed(deps.settings, key)
  const points = await newPoints(tx, key, method)
  const [first, last] = [points[0], points.at(-1)]
  if (first === undefined || last === undefined) return 0
  const inputs = await readInputs(tx, first - method.lookback * method.tickMs, last)
  const shares = points.map((atMs) => sharesAt(method, within(inputs, method, atMs), atMs))
  const bases = await ensureBases(tx, shares)
  const made = shares.filter((ticks) => ticks.length > 0)
  await writeTicks(deps, tx, { made, bases, method, key })
  return points.length
}

async function takeInputs(deps: OptionDeps): Promise<void> {
  const { rows } = await deps.database.query<{ last: Date | null }>(`select max(ends_at) as last from option_input`)
  const nowMs = deps.clock.nowMs()
  const lastMs = rows[0]?.last?.getTime()
  const historyMs = firstTicks * deps.settings.tickMs + 8 * deps.settings.halfLifeMs
  // Overlapping by an hour: a bucket published late by another process is still found.
  const fromMs = lastMs === undefined ? nowMs - historyMs : lastMs - Math.min(3_600_000, historyMs)
  const known = new Set(
    deps.demand
      .clusters()
      .filter(isListable)
      .map(({ id }) => id),
  )
  const buckets = (await deps.demand.buckets({ fromMs, toMs: nowMs })).filter(({ cluster }) => known.has(cluster))
  await storeInputs(deps.database, buckets)
}

const storeMax = 5_000

export async function storeInputs(sql: Sql, buckets: readonly PublishedBucket[]): Promise<void> {
  for (let at = 0; at < buckets.length; at += storeMax) {
    const part = buckets.slice(at, at + storeMax)
    await sql.query(
      `insert into option_input (ends_at, cluster, starts_at, bonded, event_id, synthetic)
       select * from unnest($1::timestamptz[], $2::text[], $3::timestamptz[], $4::integer[], $5::text[], $6::boolean[])
       on conflict do nothing`,
      [
        part.map(({ endsAtMs }) => new Date(endsAtMs)),
        part.map(({ cluster }) => cluster),
        part.map(({ startsAtMs }) => new Date(startsAtMs)),
        part.map(({ bonded }) => (bonded === null ? null : Math.max(0, Math.round(bonded)))),
        part.map(({ eventId }) => eventId),
        part.map(({ synthetic }) => synthetic),
      ],
    )
  }
}

/** Points of the grid that are published and have no tick yet, oldest first. */
async function newPoints(tx: Tx, key: string, { tickMs }: IndexMethod): Promise<number[]> {
  const { rows } = await tx.query<{ published: Date | null; ticked: Date | null }>(
    `select (select max(ends_at) from option_input) as published, (select max(at) from option_tick_proof where method = $1) as ticked`,
    [key],
  )
  const publishedMs = rows[0]?.published?.getTime()
  if (publishedMs === undefined) return []
  const last = Math.floor(publishedMs / tickMs) * tickMs
  const first = Math.max(last - (firstTicks - 1) * tickMs, (rows[0]?.ticked?.getTime() ?? 0) + tickMs)
  const points: number[] = []
  for (let at = first; at <= last; at += tickMs) points.push(at)
  return points
}

/** Oldest first and by cluster: the order in which everybody adds them up. */
export async function readInputs(sql: Sql, afterMs: number, upToMs: number): Promise<IndexInput[]> {
  const { rows } = await sql.query<{ cluster: string; starts_at: Date; ends_at: Date; bonded: number | null }>(
    `select cluster, starts_at, ends_at, bonded from option_input where ends_at > $1 and starts_at < $2
     order by ends_at, cluster collate "C"`,
    [new Date(afterMs), new Date(upToMs)],
  )
  return rows.map(({ cluster, starts_at, ends_at, bonded }) => ({
    cluster,
    startsAtMs: starts_at.getTime(),
    endsAtMs: ends_at.getTime(),
    bonded,
  }))
}

/** Rows are sorted by their ends, so what is too old for a tick is cut off; what begins later it leaves out itself. */
function within(inputs: readonly IndexInput[], { lookback, tickMs }: IndexMethod, atMs: number): IndexInput[] {
  return inputs.slice(firstAfter(inputs, atMs - lookback * tickMs), firstAfter(inputs, atMs + longestBucketMs))
}

function firstAfter(inputs: readonly IndexInput[], ms: number): number {
  let low = 0
  let high = inputs.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((inputs[middle] as IndexInput).endsAtMs <= ms) low = middle + 1
    else high = middle
  }
  return low
}

/** A cluster's index is 100 at the newest tick of the run in which it is first seen. */
async function ensureBases(tx: Tx, shares: readonly IndexTick[][]): Promise<Map<string, number>> {
  const newest = new Map<string, IndexTick>()
  for (const ticks of shares) for (const tick of ticks) if (tick.shareE12 > 0) newest.set(tick.cluster, tick)
  const seen = [...newest.values()]
  await tx.query(
    `insert into option_cluster (cluster, base_share_e12, base_at)
     select * from unnest($1::text[], $2::bigint[], $3::timestamptz[]) on conflict do nothing`,
    [
      seen.map(({ cluster }) => cluster),
      seen.map(({ shareE12 }) => BigInt(shareE12)),
      seen.map(({ atMs }) => new Date(atMs)),
    ],
  )
  const { rows } = await tx.query<{ cluster: string; base_share_e12: bigint }>(
    `select cluster, base_share_e12 from option_cluster`,
  )
  return new Map(rows.map(({ cluster, base_share_e12 }) => [cluster, Number(base_share_e12)]))
}

type NewTicks = {
  /** Of each point, oldest first. */
  made: readonly (readonly IndexTick[])[]
  bases: ReadonlyMap<string, number>
  method: IndexMethod
  key: string
}

/** Three statements for however many points: at its first start a node has hundreds. */
async function writeTicks(deps: OptionDeps, tx: Tx, { made, bases, method, key }: NewTicks): Promise<void> {
  if (made.length === 0) return
  const points = made.map((ticks) => ({
    at: (ticks[0] as IndexTick).atMs,
    valued: ticks.flatMap((tick) => {
      const base = bases.get(tick.cluster)
      return base === undefined ? [] : [{ ...tick, valueE4: indexValueE4(tick.shareE12, base) }]
    }),
  }))
  const valued = points.flatMap((point) => point.valued)
  await tx.query(
    `insert into option_tick (method, cluster, at, share_e12, value_e4, agents)
     select $6, cluster, at, share, value, agents from unnest($1::timestamptz[], $2::text[], $3::bigint[], $4::bigint[], $5::integer[])
       t (at, cluster, share, value, agents) on conflict do nothing`,
    [
      valued.map(({ atMs }) => new Date(atMs)),
      valued.map(({ cluster }) => cluster),
      valued.map(({ shareE12 }) => BigInt(shareE12)),
      valued.map(({ valueE4 }) => valueE4),
      valued.map(({ agents }) => agents),
      key,
    ],
  )
  const statements = points.map((point) => ({
    type: indexMethodName,
    at: toRfc3339(point.at),
    method: methodDocument(method),
    values: Object.fromEntries(point.valued.map(({ cluster, valueE4 }) => [cluster, pointsText(valueE4)])),
  }))
  await tx.query(
    `insert into option_tick_proof (method, at, jws) select $1, at, jws from unnest($2::timestamptz[], $3::text[]) t (at, jws)
     on conflict do nothing`,
    [key, points.map(({ at }) => new Date(at)), statements.map((statement) => deps.jws.sign(statement))],
  )
  // In the transparency log too, so that nobody can be shown another index than everybody else.
  await appendToLog(
    tx,
    statements.map((statement) => ({
      kind: 'index',
      subject: `index:${key}:${statement.at}`,
      entry: entryOf(statement),
    })),
  )
}

function entryOf(statement: { [key: string]: Json }): Buffer {
  const entry = Buffer.from(canonicalJson(statement))
  if (entry.length <= entryBytesMax) return entry
  const values_sha256 = sha256(canonicalJson(statement['values'] ?? null)).toString('hex')
  return Buffer.from(canonicalJson({ ...statement, values: null, values_sha256 }))
}

export function methodDocument(method: IndexMethod): { [key: string]: Json } {
  return {
    name: indexMethodName,
    tick_ms: method.tickMs,
    decay_ppb: method.decayPpb,
    lookback: method.lookback,
    counted: 'agents',
    decimals: 4,
  }
}

/** "102.3456": index points with their four decimals. */
export function pointsText(valueE4: bigint): string {
  return `${valueE4 / 10_000n}.${(valueE4 % 10_000n).toString().padStart(4, '0')}`
}
