import type { Sql } from '@assay/till/store/database'
import type { DatasetId } from '../sources/source.ts'
import { datasets } from './datasets.ts'
import { dayValues, float8Values, int4Values, textValues } from './pg-arrays.ts'

/** Rows of one file, columns in one common order: by symbol, then as in the file. */
export type LoadedRows = {
  count: number
  ids: Int32Array
  days: Int32Array
  numbers: Record<string, Float64Array>
  texts: Record<string, (string | null)[]>
}

/** Aggregated to one row of binary columns: the driver would otherwise make an object of each of 12,000 rows. */
export async function loadRows(sql: Sql, dataset: DatasetId, fileId: number): Promise<LoadedRows> {
  const { table, numbers, texts } = datasets[dataset]
  const packed = ['symbol_ids', 'as_of', ...numbers, ...texts].map(
    (name) => `string_agg(array_send(${name}), ''::bytea order by last_symbol) as c_${name}`,
  )
  const { rows } = await sql.query<Record<string, Buffer | null> & { count: number }>({
    name: `matrix_load_${dataset}`,
    text: `select coalesce(sum(cardinality(symbol_ids)), 0)::int4 as count, ${packed.join(', ')} from ${table} where file_id = $1`,
    values: [fileId],
  })
  const row = rows[0]
  const count = row?.count ?? 0
  const bytes = (name: string) => row?.[`c_${name}`] ?? Buffer.alloc(0)
  return {
    count,
    ids: int4Values(bytes('symbol_ids'), count),
    days: dayValues(bytes('as_of'), count),
    numbers: Object.fromEntries(numbers.map((name) => [name, float8Values(bytes(name), count)])),
    texts: Object.fromEntries(texts.map((name) => [name, textValues(bytes(name), count)])),
  }
}
