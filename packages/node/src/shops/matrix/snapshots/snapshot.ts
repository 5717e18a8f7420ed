import type { IsoDate } from '../calendar/dates.ts'
import type { FeedId } from '../feeds/feed.ts'

/** One input file of a snapshot: with all of them the same bytes can be made again. */
export type SnapshotInput = {
  source: string
  file: string
  sha256: string
  as_of: IsoDate
  available_at: string
  revision: number
  licence: string
  attribution: string
  synthetic: boolean
}

export type Manifest = {
  feed: FeedId
  method: string
  as_of: IsoDate
  available_at: string
  /** The oldest date behind any value. */
  data_vintage: IsoDate
  coverage_pct: number
  row_count: number
  excluded_count: number
  excluded: Record<string, number>
  ranked_by: string
  synthetic: boolean
  left_out: readonly { source: string; reason: string }[]
  inputs: readonly SnapshotInput[]
  notes: Record<string, unknown>
}

/**
 * A snapshot is a text of JSON lines: the manifest, the rows by rank, then what was excluded. Its hash is that of these
 * very bytes. Rows are served as slices of it; `liveEnds` is where the part that only vip shows begins.
 */
export type Snapshot = {
  manifest: Manifest
  sha256: string
  bytes: Buffer
  starts: Uint32Array
  liveEnds: Uint32Array
  values: Float64Array
  rowsOf: ReadonlyMap<string, readonly number[]>
  excludedReason: ReadonlyMap<string, string>
}

/** Nothing to show: no file of the needed sources is known, or none may be used. */
export type NoSnapshot = { status: 'no_data' | 'not_licensed'; leftOut: readonly { source: string; reason: string }[] }
