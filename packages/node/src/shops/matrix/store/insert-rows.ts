import type { Tx } from '@assay/till/store/database'
import type { RowSet } from '../sources/row-set.ts'
import type { DatasetId } from '../sources/source.ts'
import { cutBlocks, orderBySymbol } from './blocks.ts'
import { type DatasetColumns, datasets } from './datasets.ts'
import { dateArray, float8Array, int4Array, textArray } from './pg-arrays.ts'

export async function insertRows(
  tx: Tx,
  input: { dataset: DatasetId; fileId: number; symbolIds: Int32Array; rows: RowSet },
): Promise<void> {
  const columns = datasets[input.dataset]
  const text = insertSql(columns)
  const { rows, symbolIds } = orderBySymbol(input.rows, input.symbolIds)
  for (const { from, to, firsts, lasts, starts, ends } of cutBlocks(rows.symbols)) {
    await tx.query({
      name: `matrix_insert_${input.dataset}`,
      text,
      values: [
        input.fileId,
        textArray(firsts),
        textArray(lasts),
        int4Array(starts),
        int4Array(ends),
        int4Array(symbolIds.subarray(from, to)),
        dateArray(rows.days.subarray(from, to)),
        ...columns.numbers.map((name) => float8Array((rows.numbers[name] as Float64Array).subarray(from, to))),
        ...columns.texts.map((name) => textArray((rows.texts[name] as (string | null)[]).slice(from, to))),
      ],
    })
  }
}

/** Whole columns go over the wire, the server cuts them: a statement of the same shape for any number of blocks. */
function insertSql({ table, numbers, texts }: DatasetColumns): string {
  const types = [...numbers.map(() => 'float8'), ...texts.map(() => 'text')]
  const slices = types.map((type, index) => `($${8 + index}::${type}[])[a:z]`)
  return `insert into ${table} (file_id, first_symbol, last_symbol, symbol_ids, as_of, ${[...numbers, ...texts].join(', ')})
    select $1::int4, f, l, ($6::int4[])[a:z], ($7::date[])[a:z], ${slices.join(', ')}
    from unnest($2::text[], $3::text[], $4::int4[], $5::int4[]) as b(f, l, a, z)`
}
