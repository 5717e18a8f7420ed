import type { Sql, Tx } from '@assay/till/store/database'
import type { IsoDate } from '../calendar/dates.ts'
import type { SourceId } from '../sources/source.ts'

export type AvailableBasis = 'stated' | 'stamp' | 'last_modified' | 'schedule' | 'observed'

export type FileRecord = {
  id: number
  source: SourceId
  part: string
  period: string
  asOf: IsoDate
  revision: number
  availableAtMs: number
  availableBasis: AvailableBasis
  ingestedAtMs: number
  sha256: string
  name: string
  rowCount: number
  synthetic: boolean
  url: string | null
}

type FileRow = {
  id: number
  source: SourceId
  part: string
  period: string
  as_of: string
  revision: number
  available_at: Date
  available_basis: AvailableBasis
  ingested_at: Date
  sha256: Buffer
  name: string
  row_count: number
  synthetic: boolean
  url: string | null
}

const columns =
  'id, source, part, period, as_of, revision, available_at, available_basis, ingested_at, sha256, name, row_count, synthetic, url'

const toRecord = (row: FileRow): FileRecord => ({
  id: row.id,
  source: row.source,
  part: row.part,
  period: row.period,
  asOf: row.as_of,
  revision: row.revision,
  availableAtMs: row.available_at.getTime(),
  availableBasis: row.available_basis,
  ingestedAtMs: row.ingested_at.getTime(),
  sha256: row.sha256.toString('hex'),
  name: row.name,
  rowCount: row.row_count,
  synthetic: row.synthetic,
  url: row.url,
})

export async function readFiles(sql: Sql, afterId = 0, known: readonly number[] = []): Promise<FileRecord[]> {
  const { rows } = await sql.query<FileRow>(
    `select ${columns} from matrix_file where id > $1 and id <> all ($2::bigint[]) order by id`,
    [afterId, known],
  )
  return rows.map(toRecord)
}

/** Revisions of one part and period, oldest first. Takes the period for this transaction, so that two cannot be numbered alike. */
export async function lockRevisions(
  tx: Tx,
  key: { source: SourceId; part: string; period: string },
): Promise<FileRecord[]> {
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 20))', [`${key.source} ${key.part} ${key.period}`])
  const { rows } = await tx.query<FileRow>(
    `select ${columns} from matrix_file where source = $1 and part = $2 and period = $3 order by revision`,
    [key.source, key.part, key.period],
  )
  return rows.map(toRecord)
}

export type NewFile = Omit<FileRecord, 'id' | 'sha256'> & {
  sha256: Uint8Array
  byteCount: number
  skipped: Record<string, number>
}

export async function insertFile(tx: Tx, file: NewFile): Promise<number> {
  const { rows } = await tx.query<{ id: number }>(
    `insert into matrix_file (source, part, period, as_of, revision, available_at, available_basis, ingested_at, sha256,
       name, url, row_count, byte_count, skipped, synthetic)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) returning id`,
    [
      file.source,
      file.part,
      file.period,
      file.asOf,
      file.revision,
      new Date(file.availableAtMs),
      file.availableBasis,
      new Date(file.ingestedAtMs),
      file.sha256,
      file.name,
      file.url,
      file.rowCount,
      file.byteCount,
      JSON.stringify(file.skipped),
      file.synthetic,
    ],
  )
  return (rows[0] as { id: number }).id
}
