import type { Clock } from '@assay/till/kernel/clock'
import type { ChangedTile, TileId } from '../tiles.ts'

export type HttpAnswer = { ok: true; status: number; bytes: Buffer } | { ok: false; reason: string }

/** The way out of a monitor. Never throws for what the other side does; a body above `bytesMax` fails. */
export type MonitorHttp = {
  get(url: string, bytesMax: number): Promise<HttpAnswer>
  postJson(url: string, body: unknown, bytesMax: number): Promise<HttpAnswer>
}

export type Severity = 'alarm' | 'warning'

export type FindingKind =
  | 'fork'
  | 'shrunk'
  | 'unknown_key'
  | 'origin_changed'
  | 'tiles_wrong'
  | 'tiles_missing'
  | 'entries_wrong'
  | 'missing_leaf'
  | 'anchor_missing'
  | 'behind'
  | 'not_growing'
  | 'witness_quorum'
  | 'view_unusable'
  | 'unreachable'
  | 'malformed'

export type Finding = { kind: FindingKind; severity: Severity; detail: string }

/** Root in base64, as in the note. */
export type SeenHead = { size: number; root: string; note: string; seen_at: string }

/** `agrees` is null while the log shows less than was anchored. */
export type SeenAnchor = { size: number; transaction: string; agrees: boolean | null }

/** Everything a monitor knows of one log. Kept as JSON. */
export type LogState = {
  version: 1
  url: string
  origin: string | null
  /** Keys that may sign this log: given, or those of the first contact. */
  keys: string[]
  /** Keys that were revoked. */
  lost: string[]
  head: SeenHead | null
  /** Leaves that were downloaded and hash to the signed root. */
  audited: number
  /** The last of them whose entries were downloaded as well. */
  entries: number
  grown_at: string | null
  /** Unix milliseconds and size, oldest first. */
  growth: [number, number][]
  /** By key: the largest head each witness was seen to have cosigned, and when it signed. */
  witnesses: Record<string, { size: number; cosigned_at: string }>
  /** What others saw of this log. */
  views: Record<string, { size: number | null; verdict: string; seen_at: string }>
  anchors: { block: number | null; seen: SeenAnchor[] }
  /** Files with proof that the log showed two histories. */
  forks: string[]
  receipts: { checked: number; missing: { file: string; leaf_hash: string }[] }
  findings: Finding[]
  checked_at: string | null
  /** Looks in a row that did not read a head. */
  failures: number
}

export type WitnessOption = { key: string; url?: string }

export type MonitorOptions = {
  /** Pinned keys; without any, those that an Assay log names at the first contact. */
  keys: readonly string[]
  witnesses: readonly WitnessOption[]
  /** How many of the witnesses must have cosigned within `witnessAgeMs`. */
  quorum: number
  witnessAgeMs: number
  /** Other copies of the same log. */
  compare: readonly string[]
  rpc?: string
  receipts?: string
  /** A receipt may be this old before its leaf must be there. */
  graceMs: number
  stillMs: number
  /** Also download entry bundles. */
  entries: boolean
  tilesPerCheck: number
  leavesMax: number
}

export type KeptTiles = {
  /** The widest copy of a tile, or undefined. */
  readTile(id: TileId): Promise<Buffer | undefined>
  writeTiles(tiles: readonly ChangedTile[]): Promise<void>
  writeEntries(tile: number, width: number, bundle: Uint8Array): Promise<void>
}

/** Where a monitor keeps what it knows of one log. Every write is atomic. */
export type LogStore = KeptTiles & {
  readState(): Promise<LogState | undefined>
  writeState(state: LogState): Promise<void>
  /** The head whose tiles, and entries if wanted, are all here. */
  writeCheckpoint(note: string): Promise<void>
  /** Returns the name of the file. */
  writeFork(evidence: unknown, name: string): Promise<string>
}

export type MonitorDeps = { http: MonitorHttp; clock: Clock; store: LogStore; options: MonitorOptions }

export const defaultMonitorOptions: MonitorOptions = {
  keys: [],
  witnesses: [],
  quorum: 0,
  witnessAgeMs: 3_600_000,
  compare: [],
  graceMs: 60_000,
  stillMs: 86_400_000,
  entries: false,
  tilesPerCheck: 1_024,
  leavesMax: 20_000_000,
}

export function emptyState(url: string): LogState {
  return {
    version: 1,
    url,
    origin: null,
    keys: [],
    lost: [],
    head: null,
    audited: 0,
    entries: 0,
    grown_at: null,
    growth: [],
    witnesses: {},
    views: {},
    anchors: { block: null, seen: [] },
    forks: [],
    receipts: { checked: 0, missing: [] },
    findings: [],
    checked_at: null,
    failures: 0,
  }
}
