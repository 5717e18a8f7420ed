import type { Sql } from '../../store/database.ts'
import type { DatasetId } from '../sources/source.ts'
import { datasets } from './datasets.ts'
import { float8Values, int4Values } from './pg-arrays.ts'

/** Rows of one file, columns in one common order. */
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
  const parts = [
    `string_agg(int4send(symbol_id), ''::bytea) as ids`,
    `string_agg(int4send(as_of - date '1970-01-01'), ''::bytea) as days`,
    ...numbers.map((name) => `string_agg(float8send(coalesce(${name}, 'NaN')), ''::bytea) as n_${name}`),
    ...texts.map((name) => `json_agg(${name}) as t_${name}`),
  ]
  const { rows } = await sql.query<Record<string, unknown>>(
    `select ${parts.join(', ')} from ${table} where file_id = $1`,
    [fileId],
  )
  const row = rows[0] ?? {}
  const bytes = (name: string) => (row[name] as Buffer | null) ?? Buffer.alloc(0)
  const ids = int4Values(bytes('ids'))
  return {
    count: ids.length,
    ids,
    days: int4Values(bytes('days')),
    numbers: Object.fromEntries(numbers.map((name) => [name, float8Values(bytes(`n_${name}`))])),
    texts: Object.fromEntries(texts.map((name) => [name, (row[`t_${name}`] as (string | null)[] | null) ?? []])),
  }
}
