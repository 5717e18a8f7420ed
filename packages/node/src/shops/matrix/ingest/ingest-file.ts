import { basename } from 'node:path'
import { sha256 } from '@assay/till/kernel/bytes'
import type { Clock } from '@assay/till/kernel/clock'
import type { Database, Tx } from '@assay/till/store/database'
import { gunzipWithin, isGzip } from '../reading/gunzip.ts'
import { FileRefused, refuse } from '../reading/refused.ts'
import { recogniseSource, sourceOf } from '../sources/catalogue.ts'
import type { ParsedFile, Source, SourceId } from '../sources/source.ts'
import { type AvailableBasis, insertFile, lockRevisions } from '../store/files.ts'
import { insertRows } from '../store/insert-rows.ts'
import { keepRaw } from '../store/raw-bytes.ts'
import type { SymbolTable } from '../store/symbol-table.ts'
import { keepChanges } from './keep-changes.ts'
import { keepRefusal } from './keep-refusal.ts'

export type IngestDeps = { database: Database; clock: Clock; symbols: SymbolTable }

export type FileToIngest = {
  name: string
  bytes: Uint8Array
  url?: string
  /** Default: recognised by name and content. */
  source?: SourceId
  /** When it became public, if somebody knows. */
  availableAtMs?: number
  lastModifiedMs?: number
  /** Made by this node's own generator. */
  synthetic?: boolean
}

export type IngestOutcome =
  | {
      status: 'stored'
      source: SourceId
      part: string
      period: string
      revision: number
      rows: number
      /** Rows left out, by reason. */
      skipped: Record<string, number>
      fileId: number
    }
  | { status: 'unchanged'; source: SourceId; part: string; period: string; revision: number }
  | { status: 'refused'; source: SourceId | undefined; code: string; detail: string }

/** From bytes to rows of truth in one transaction; a file that fails any check is kept aside and changes nothing. */
export async function ingestFile(deps: IngestDeps, file: FileToIngest): Promise<IngestOutcome> {
  let source: Source | undefined
  try {
    const read = readFileBytes(file)
    source = file.source === undefined ? recogniseSource(read.name, read.bytes) : sourceOf(file.source)
    if (read.bytes.byteLength > source.bytesMax)
      refuse('too_large', `${read.bytes.byteLength} bytes; files of this source have at most ${source.bytesMax}`)
    const parsed = source.parse({ ...read, nowMs: deps.clock.nowMs() })
    const chosen = source
    // Symbols first and outside: their numbers are shared by all transactions.
    await deps.symbols.idsOf(deps.database, parsed.rows.symbols)
    return await deps.database.transaction((tx) => storeParsed(deps, tx, { source: chosen, parsed, read, file }))
  } catch (error) {
    if (!(error instanceof FileRefused)) throw error
    await keepRefusal(deps, file, source?.id, error)
    return { status: 'refused', source: source?.id, code: error.code, detail: error.message }
  }
}

const gzippedBytesMax = 256 * 1024 * 1024

function readFileBytes(file: FileToIngest): { name: string; bytes: Uint8Array } {
  const name = basename(file.name).slice(0, 200)
  if (!isGzip(file.bytes)) return { name, bytes: file.bytes }
  return { name: name.replace(/\.gz$/, ''), bytes: gunzipWithin(file.bytes, gzippedBytesMax) }
}

/** A file as it was given, as it was unpacked, and what its source reads in it. */
type AcceptedFile = {
  source: Source
  parsed: ParsedFile
  read: { name: string; bytes: Uint8Array }
  file: FileToIngest
}

async function storeParsed(deps: IngestDeps, tx: Tx, accepted: AcceptedFile): Promise<IngestOutcome> {
  const { source, parsed, read, file } = accepted
  const key = { source: source.id, part: parsed.part, period: parsed.period }
  const digest = sha256(read.bytes)
  const earlier = await lockRevisions(tx, key)
  const same = earlier.find((one) => one.sha256 === digest.toString('hex'))
  if (same) return { status: 'unchanged', ...key, revision: same.revision }
  const rows = source.dataset === 'borrow' ? await keepChanges(tx, deps.symbols, parsed) : parsed.rows
  const revision = earlier.length + 1
  const nowMs = deps.clock.nowMs()
  await keepRaw(tx, digest, read.bytes)
  const fileId = await insertFile(tx, {
    ...key,
    ...availability(source, parsed, file, revision, nowMs),
    asOf: parsed.asOf,
    revision,
    ingestedAtMs: nowMs,
    sha256: digest,
    name: read.name,
    url: file.url ?? null,
    rowCount: rows.count,
    byteCount: read.bytes.byteLength,
    skipped: parsed.skipped,
    synthetic: file.synthetic ?? false,
  })
  const symbolIds = await deps.symbols.idsOf(tx, rows.symbols)
  await insertRows(tx, { dataset: source.dataset, fileId, symbolIds, rows })
  await tx.query(`select pg_notify('matrix_file', $1)`, [String(fileId)])
  return { status: 'stored', ...key, revision, rows: rows.count, skipped: parsed.skipped, fileId }
}

/**
 * When the public could know it: as passed in, as stamped, as the server said, or the latest moment of its schedule. A
 * correction without any of these is known from the moment it was seen: dated back, it would look ahead.
 */
export function availability(
  source: Source,
  parsed: ParsedFile,
  file: FileToIngest,
  revision: number,
  nowMs: number,
): { availableAtMs: number; availableBasis: AvailableBasis } {
  const known = (availableAtMs: number, availableBasis: AvailableBasis) => ({
    availableAtMs: Math.min(availableAtMs, nowMs),
    availableBasis,
  })
  if (file.availableAtMs !== undefined) return known(file.availableAtMs, 'stated')
  // The generator keeps its publishers' hours, also where a fuller file follows a first small one.
  if (file.synthetic) return known(parsed.stampedAtMs ?? source.latestPublicationMs(parsed), 'schedule')
  if (parsed.stampedAtMs !== undefined) return known(parsed.stampedAtMs, 'stamp')
  if (file.lastModifiedMs !== undefined) return known(file.lastModifiedMs, 'last_modified')
  if (revision > 1) return known(nowMs, 'observed')
  return known(source.latestPublicationMs(parsed), 'schedule')
}
