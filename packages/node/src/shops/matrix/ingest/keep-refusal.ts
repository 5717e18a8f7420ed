import { basename } from 'node:path'
import { sha256 } from '@assay/till/kernel/bytes'
import type { FileRefused } from '../reading/refused.ts'
import type { SourceId } from '../sources/source.ts'
import { keepRaw } from '../store/raw-bytes.ts'
import type { FileToIngest, IngestDeps } from './ingest-file.ts'

/** Evidence of a bad file is worth keeping, an endless one is not. */
const keptBytesMax = 8 * 1024 * 1024

export async function keepRefusal(
  deps: IngestDeps,
  file: FileToIngest,
  source: SourceId | undefined,
  refusal: FileRefused,
): Promise<void> {
  const digest = sha256(file.bytes)
  if (file.bytes.byteLength <= keptBytesMax) await keepRaw(deps.database, digest, file.bytes)
  await deps.database.query(
    `insert into matrix_refusal (source, name, url, sha256, byte_count, code, detail, refused_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      source ?? null,
      basename(file.name).slice(0, 200),
      file.url ?? null,
      digest,
      file.bytes.byteLength,
      refusal.code,
      refusal.message,
      new Date(deps.clock.nowMs()),
    ],
  )
}
