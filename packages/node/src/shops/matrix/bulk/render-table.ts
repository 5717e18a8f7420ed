import { createCsvWriter } from '../snapshots/csv-writer.ts'
import { parquetBytes } from '../snapshots/parquet-bytes.ts'
import type { BulkTable } from './make-table.ts'

export const bulkFormats = ['csv', 'parquet'] as const
export type BulkFormat = (typeof bulkFormats)[number]

const linesAtOnce = 5_000

/** The same table gives the same bytes: its hash is in the manifest. */
export async function renderTable(
  table: BulkTable,
  format: BulkFormat,
  yieldToEventLoop: () => Promise<void>,
): Promise<Uint8Array> {
  return format === 'csv' ? csvOf(table, yieldToEventLoop) : parquetOf(table)
}

async function csvOf({ rows, columns }: BulkTable, yieldToEventLoop: () => Promise<void>): Promise<Uint8Array> {
  const writer = createCsvWriter(columns)
  for (let from = 0; from < rows; from += linesAtOnce) {
    writer.add(from, Math.min(rows, from + linesAtOnce))
    await yieldToEventLoop()
  }
  return writer.bytes()
}

const parquetOf = ({ columns }: BulkTable): Promise<Uint8Array> =>
  parquetBytes(
    columns.map((column) =>
      column.kind === 'text'
        ? { name: column.name, type: 'STRING', data: column.values }
        : {
            name: column.name,
            type: 'DOUBLE',
            data: column.values.some(Number.isNaN)
              ? column.values.map((value) => (Number.isNaN(value) ? null : value))
              : column.values,
          },
    ),
  )
