import { gzipSync } from 'node:zlib'

export type ParquetColumn =
  | { name: string; type: 'STRING'; data: readonly (string | null)[] }
  | { name: string; type: 'DOUBLE'; data: readonly (number | null)[] }
  | { name: string; type: 'BOOLEAN'; data: readonly (boolean | null)[] }

/**
 * The fastest that the writer does: columns without gaps carry no levels, figures no dictionary, and the pages are packed by
 * native gzip, which is faster than the writer's own Snappy and leaves half of it.
 */
export async function parquetBytes(
  columns: readonly ParquetColumn[],
  kvMetadata: { key: string; value: string }[] = [],
): Promise<Uint8Array> {
  const { parquetWriteBuffer } = await import('hyparquet-writer')
  const columnData = columns.map(({ name, type, data }) => ({
    name,
    type,
    data: data as (string | number | boolean | null)[],
    nullable: (data as readonly unknown[]).includes(null),
    ...(type === 'DOUBLE' && { encoding: 'PLAIN' as const }),
  }))
  const compressors = { GZIP: (page: Uint8Array) => gzipSync(page, { level: 1 }) }
  return new Uint8Array(parquetWriteBuffer({ columnData, kvMetadata, codec: 'GZIP', compressors, statistics: false }))
}
