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
  // One piece of memory a file: the system takes a large one back, and hundreds of small ones leave holes behind.
  const space = new ArrayBuffer(count * (2 * 4 + numbers.length * 8))
  const column = (place: number) => new Float64Array(space, (place + 1) * count * 8, count)
  return {
    count,
    ids: int4Values(bytes('symbol_ids'), new Int32Array(space, 0, count)),
    days: dayValues(bytes('as_of'), new Int32Array(space, count * 4, count)),
    numbers: Object.fromEntries(numbers.map((name, place) => [name, float8Values(bytes(name), column(place))])),
    texts: Object.fromEntries(texts.map((name) => [name, textValues(bytes(name), count)])),
  }
}
