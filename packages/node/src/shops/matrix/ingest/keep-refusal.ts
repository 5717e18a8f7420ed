import { basename } from 'node:path'
import { sha256 } from '@assay/till/kernel/bytes'
import { keepRaw } from '../store/raw-bytes.ts'
import type { FileToIngest, IngestDeps } from './ingest-file.ts'
import type { FileRead } from './read-file.ts'

/** Evidence of a bad file is worth keeping, an endless one is not. */
const keptBytesMax = 8 * 1024 * 1024

export async function keepRefusal(
  deps: IngestDeps,
  file: Omit<FileToIngest, 'source'>,
  { source, code, detail }: Extract<FileRead, { status: 'refused' }>,
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
      code,
      detail,
      new Date(deps.clock.nowMs()),
    ],
  )
}
