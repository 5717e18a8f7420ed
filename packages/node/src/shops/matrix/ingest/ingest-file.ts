import { sha256 } from '@assay/till/kernel/bytes'
import type { Clock } from '@assay/till/kernel/clock'
import type { Database, Tx } from '@assay/till/store/database'
import { sourceOf } from '../sources/catalogue.ts'
import type { ParsedFile, Source, SourceId } from '../sources/source.ts'
import { type AvailableBasis, insertFile, lockRevisions } from '../store/files.ts'
import { insertRows } from '../store/insert-rows.ts'
import { keepRaw } from '../store/raw-bytes.ts'
import type { SymbolTable } from '../store/symbol-table.ts'
import { keepChanges } from './keep-changes.ts'
import { keepRefusal } from './keep-refusal.ts'
import { type FileRead, type FileToRead, readMarketFile } from './read-file.ts'
import type { FileReader } from './reader-thread-adapter.ts'

export type IngestDeps = {
  database: Database
  clock: Clock
  symbols: SymbolTable
  /** Reads files in another thread; without it this one does. */
  reader?: Pick<FileReader, 'read'>
}

export type FileToIngest = FileToRead & {
  url?: string
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
  const { name, bytes, source } = file
  const given = { name, bytes, ...(source === undefined ? {} : { source }) }
  const nowMs = deps.clock.nowMs()
  const read = deps.reader ? await deps.reader.read(given, nowMs) : readMarketFile(given, nowMs)
  return storeRead(deps, read, file)
}

/** The same for a file that was read already. */
export async function storeRead(
  deps: IngestDeps,
  read: FileRead,
  file: Omit<FileToIngest, 'source'>,
): Promise<IngestOutcome> {
  if (read.status === 'refused') {
    await keepRefusal(deps, file, read)
    return read
  }
  // Symbols first and outside: their numbers are shared by all transactions.
  await deps.symbols.idsOf(deps.database, read.parsed.rows.symbols)
  return deps.database.transaction((tx) => storeParsed(deps, tx, sourceOf(read.source), read.parsed, read, file))
}

async function storeParsed(
  deps: IngestDeps,
  tx: Tx,
  source: Source,
  parsed: ParsedFile,
  read: { name: string; bytes: Uint8Array },
  file: Omit<FileToIngest, 'source'>,
): Promise<IngestOutcome> {
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
 * When the public could know it: as told, as stamped, as the server said, or the latest moment of its schedule. A
 * correction without any of these is known from the moment it was seen: dated back, it would look ahead.
 */
export function availability(
  source: Source,
  parsed: ParsedFile,
  file: Omit<FileToIngest, 'source'>,
  revision: number,
  nowMs: number,
): { availableAtMs: number; availableBasis: AvailableBasis } {
  const known = (availableAtMs: number, availableBasis: AvailableBasis) => ({
    availableAtMs: Math.min(availableAtMs, nowMs),
    availableBasis,
  })
  if (file.availableAtMs !== undefined) return known(file.availableAtMs, 'stated')
  // The generator keeps its publishers' hours, also where a fuller file follows a first small one.
  if (file.synthetic) return known(parsed.stampedAtMs ?? source.publicBy(parsed), 'schedule')
  if (parsed.stampedAtMs !== undefined) return known(parsed.stampedAtMs, 'stamp')
  if (file.lastModifiedMs !== undefined) return known(file.lastModifiedMs, 'last_modified')
  if (revision > 1) return known(nowMs, 'observed')
  return known(source.publicBy(parsed), 'schedule')
}
