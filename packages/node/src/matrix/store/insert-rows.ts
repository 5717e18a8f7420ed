import type { Tx } from '../../store/database.ts'
import type { RowSet } from '../sources/row-set.ts'
import type { DatasetId } from '../sources/source.ts'
import { type DatasetColumns, datasets } from './datasets.ts'
import { float8Array, int4Array, textArray } from './pg-arrays.ts'

/** As many rows as one statement takes without long pauses for others. */
const rowsPerStatement = 25_000

export async function insertRows(
  tx: Tx,
  input: { dataset: DatasetId; fileId: number; symbolIds: Int32Array; rows: RowSet },
): Promise<void> {
  const columns = datasets[input.dataset]
  const text = insertSql(columns)
  const { rows, symbolIds } = input
  for (let from = 0; from < rows.count; from += rowsPerStatement) {
    const to = Math.min(rows.count, from + rowsPerStatement)
    await tx.query({
      name: `matrix_insert_${input.dataset}`,
      text,
      values: [
        input.fileId,
        int4Array(symbolIds.subarray(from, to)),
        int4Array(rows.days.subarray(from, to)),
        ...columns.numbers.map((name) => float8Array((rows.numbers[name] as Float64Array).subarray(from, to))),
        ...columns.texts.map((name) => textArray((rows.texts[name] as (string | null)[]).slice(from, to))),
      ],
    })
  }
}

function insertSql({ table, numbers, texts }: DatasetColumns): string {
  const names = [...numbers, ...texts]
  const arrays = [
    '$2::int4[]',
    '$3::int4[]',
    ...numbers.map((_, index) => `$${4 + index}::float8[]`),
    ...texts.map((_, index) => `$${4 + numbers.length + index}::text[]`),
  ]
  const aliases = names.map((_, index) => `c${index}`)
  return `insert into ${table} (symbol_id, as_of, file_id, ${names.join(', ')})
    select s, date '1970-01-01' + d, $1::int4, ${aliases.join(', ')}
    from unnest(${arrays.join(', ')}) as t(s, d, ${aliases.join(', ')})`
}
