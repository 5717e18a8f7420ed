import type { FileCache } from '../as-of/file-cache.ts'
import type { Feed } from '../feeds/feed.ts'
import { sourceOf } from '../sources/catalogue.ts'
import type { Source, SourceId } from '../sources/source.ts'
import type { FileRecord } from '../store/files.ts'

/** Sources whose files are named for the period they cover, so that a missing one can be named. */
const byPeriod: ReadonlySet<SourceId> = new Set([
  'finra-short-volume',
  'finra-short-interest',
  'sec-fails',
  'nasdaq-threshold',
  'nyse-threshold',
  'cboe-threshold',
])

export type SourceState = {
  source: SourceId
  newest: FileRecord | undefined
  stale: boolean
  why: string | undefined
  /** When what is missing was due. */
  dueAtMs?: number
}

/** Whether a source missed its schedule, seen from this moment. */
export function sourceState(fileCache: FileCache, id: SourceId, nowMs: number): SourceState {
  const source = sourceOf(id)
  const files = fileCache.known(id, nowMs)
  const [newest] = files
  if (!newest) return { source: id, newest: undefined, stale: true, why: 'nothing of this source is held' }
  const missing = missed(source, files, newest, nowMs)
  return {
    source: id,
    newest,
    stale: missing !== undefined,
    why: missing?.why,
    ...(missing && { dueAtMs: missing.dueAtMs }),
  }
}

const syntheticPatienceMs = 6 * 86_400_000
const byQuarter: ReadonlySet<SourceId> = new Set(['sec-13f', 'sec-shares'])

type Missing = { why: string; dueAtMs: number }

function missed(source: Source, files: readonly FileRecord[], newest: FileRecord, nowMs: number): Missing | undefined {
  const [expected] = source.schedule.due(nowMs - source.schedule.graceMs)
  if (byPeriod.has(source.id)) {
    if (!expected || files.some((file) => file.period >= expected.period)) return undefined
    return { why: `the file for ${expected.period} was due and is not held`, dueAtMs: expected.dueAtMs }
  }
  // The generator makes a day at a time, not every quarter of an hour.
  const patienceMs = newest.synthetic
    ? Math.max(syntheticPatienceMs, source.schedule.graceMs + 100 * 86_400_000 * Number(byQuarter.has(source.id)))
    : source.schedule.graceMs
  const sinceMs = expected && !newest.synthetic ? expected.dueAtMs : nowMs - patienceMs
  return Math.max(newest.availableAtMs, newest.ingestedAtMs * Number(!newest.synthetic)) < sinceMs
    ? { why: 'nothing new came when it was due', dueAtMs: sinceMs }
    : undefined
}

/** When the next file of any source of this feed is due. */
export function nextExpectedMs(feed: Feed, nowMs: number): number | undefined {
  const times = feed.needs.flatMap((id) => nextDue(sourceOf(id), nowMs) ?? [])
  return times.length === 0 ? undefined : Math.min(...times)
}

const nextDues = new WeakMap<Source, { fromMs: number; atMs: number }>()

/** The calendar is worked out once for each file that is due. */
function nextDue(source: Source, nowMs: number): number | undefined {
  const known = nextDues.get(source)
  if (known && known.fromMs <= nowMs && nowMs < known.atMs) return known.atMs
  const atMs = findNextDue(source, nowMs)
  if (atMs !== undefined) nextDues.set(source, { fromMs: nowMs, atMs })
  return atMs
}

function findNextDue(source: Source, nowMs: number): number | undefined {
  // A quarter of an hour first: some publish that often.
  for (const days of [1 / 96, 1, 3, 6, 12, 24, 48, 100]) {
    const later = source.schedule
      .due(nowMs + days * 86_400_000)
      .map(({ dueAtMs }) => dueAtMs)
      .filter((ms) => ms > nowMs)
    if (later.length > 0) return Math.min(...later)
  }
  return undefined
}

export type Freshness = { late: readonly SourceState[]; nextMs: number | undefined }

const remembered = new WeakMap<FileCache, Map<string, { key: string; freshness: Freshness }>>()

/** Which sources of a feed are late and when the next file is due. Reported by the minute: schedules are computed once for all answers. */
export function freshnessOf(fileCache: FileCache, feed: Feed, nowMs: number): Freshness {
  const known = remembered.get(fileCache) ?? new Map<string, { key: string; freshness: Freshness }>()
  remembered.set(fileCache, known)
  const key = `${Math.floor(nowMs / 60_000)} ${fileCache.all().length}`
  const found = known.get(feed.id)
  if (found?.key === key) return found.freshness
  const late = feed.needs.map((id) => sourceState(fileCache, id, nowMs)).filter(({ stale }) => stale)
  const freshness = { late, nextMs: nextExpectedMs(feed, nowMs) }
  known.set(feed.id, { key, freshness })
  return freshness
}
