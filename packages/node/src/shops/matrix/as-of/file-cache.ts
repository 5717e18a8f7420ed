import { type Clock, systemClock } from '@assay/till/kernel/clock'
import type { Sql } from '@assay/till/store/database'
import type { DatasetId, SourceId } from '../sources/source.ts'
import { type FileRecord, readFiles } from '../store/files.ts'
import { type LoadedRows, loadRows } from '../store/load-rows.ts'

/** Which files exist, and the rows of those used lately. Files never change, so neither does what is kept here. */
export type FileCache = {
  refresh(sql: Sql): Promise<void>
  /** What was known at a moment: of each part and period the newest revision public by then, newest period first. */
  known(source: SourceId, knownAtMs: number, synthetic?: boolean): readonly FileRecord[]
  all(): readonly FileRecord[]
  /** The last moment up to `atMs` at which anything became known: between two such moments nothing changes. */
  lastChange(atMs: number): number | undefined
  rows(sql: Sql, dataset: DatasetId, file: FileRecord): Promise<LoadedRows>
  /** Several at once, where each alone would wait for the database. */
  prefetch(sql: Sql, dataset: DatasetId, files: readonly FileRecord[]): Promise<void>
}

/** Somewhat more than a view of the whole market is made of. */
const keptRowsMax = 1_000_000
/** A view is made in seconds and then stands for hours: what nobody asked for since is read again when it is needed. */
const idleMsMax = 120_000
const lookBack = 256
const loadsAtOnce = 4

/** `replica`: where rows are read from first. A file that is there never changes; it may only not be there yet. */
export function createFileCache({
  replica,
  clock = systemClock,
}: {
  replica?: Sql | undefined
  clock?: Clock
} = {}): FileCache {
  const bySource = new Map<SourceId, FileRecord[]>()
  const everything: FileRecord[] = []
  const kept = new Map<number, { rows: LoadedRows; usedAtMs: number }>()
  const seen = new Set<number>()
  let keptRows = 0
  let lastId = 0
  /** Those used longest ago come first. */
  const dropOldest = (isDropped: (usedAtMs: number, id: number) => boolean) => {
    for (const [id, { rows, usedAtMs }] of kept) {
      if (!isDropped(usedAtMs, id)) return
      kept.delete(id)
      keptRows -= rows.count
    }
  }
  const rows = async (sql: Sql, dataset: DatasetId, file: FileRecord): Promise<LoadedRows> => {
    const found = kept.get(file.id)
    if (found) {
      kept.delete(file.id)
      kept.set(file.id, { ...found, usedAtMs: clock.monotonicMs() })
      return found.rows
    }
    const first = await loadRows(replica ?? sql, dataset, file.id)
    const loaded = replica && first.count === 0 ? await loadRows(sql, dataset, file.id) : first
    // Two that asked at once have read it twice, and one of them is kept.
    keptRows += loaded.count - (kept.get(file.id)?.rows.count ?? 0)
    kept.set(file.id, { rows: loaded, usedAtMs: clock.monotonicMs() })
    dropOldest((_, id) => keptRows > keptRowsMax && id !== file.id)
    return loaded
  }
  return {
    all: () => everything,
    lastChange: (atMs) => {
      let last: number | undefined
      for (const { availableAtMs } of everything)
        if (availableAtMs <= atMs && (last === undefined || availableAtMs > last)) last = availableAtMs
      return last
    },
    refresh: async (sql) => {
      const idleSinceMs = clock.monotonicMs() - idleMsMax
      dropOldest((usedAtMs) => usedAtMs < idleSinceMs)
      // Transactions may commit out of order, so the last stretch of numbers is checked again.
      const afterId = Math.max(0, lastId - lookBack)
      const known = everything.slice(-lookBack).map(({ id }) => id)
      for (const file of await readFiles(sql, afterId, known)) {
        if (seen.has(file.id)) continue
        seen.add(file.id)
        lastId = Math.max(lastId, file.id)
        everything.push(file)
        const list = bySource.get(file.source)
        if (list) list.push(file)
        else bySource.set(file.source, [file])
      }
    },
    known: (source, knownAtMs, synthetic) => {
      const newest = new Map<string, FileRecord>()
      for (const file of bySource.get(source) ?? []) {
        if (file.availableAtMs > knownAtMs || (synthetic !== undefined && file.synthetic !== synthetic)) continue
        const key = `${file.part} ${file.period}`
        const other = newest.get(key)
        if (!other || isLater(file, other)) newest.set(key, file)
      }
      return [...newest.values()].sort(
        (a, b) => compare(b.asOf, a.asOf) || compare(b.period, a.period) || compare(a.part, b.part),
      )
    },
    prefetch: async (sql, dataset, files) => {
      const missing = files.filter((file) => !kept.has(file.id))
      for (let from = 0; from < missing.length; from += loadsAtOnce)
        await Promise.all(missing.slice(from, from + loadsAtOnce).map((file) => rows(sql, dataset, file)))
    },
    rows,
  }
}

/** A backfill may bring an earlier revision after a later one: what became public last counts. */
const isLater = (one: FileRecord, other: FileRecord) =>
  one.availableAtMs === other.availableAtMs ? one.revision > other.revision : one.availableAtMs > other.availableAtMs

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
