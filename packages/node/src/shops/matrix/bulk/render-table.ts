import { csvText } from '../snapshots/csv-text.ts'
import { createTextBuffer } from '../snapshots/text-buffer.ts'
import type { BulkTable, TableColumn } from './make-table.ts'

export const bulkFormats = ['csv', 'parquet'] as const
export type BulkFormat = (typeof bulkFormats)[number]

const linesAtOnce = 5_000

/** The same table gives the same bytes: its hash is in the manifest. */
export async function renderTable(
  table: BulkTable,
  format: BulkFormat,
  breathe: () => Promise<void>,
): Promise<Uint8Array> {
  return format === 'csv' ? csvOf(table, breathe) : parquetOf(table)
}

async function csvOf({ rows, columns }: BulkTable, breathe: () => Promise<void>): Promise<Uint8Array> {
  const text = createTextBuffer()
  text.add(`${columns.map(({ name }) => name).join(',')}\n`)
  for (let from = 0; from < rows; from += linesAtOnce) {
    const to = Math.min(rows, from + linesAtOnce)
    let lines = ''
    for (let row = from; row < to; row += 1) {
      for (let place = 0; place < columns.length; place += 1) {
        if (place > 0) lines += ','
        lines += csvText((columns[place] as TableColumn).values[row])
      }
      lines += '\n'
    }
    text.add(lines)
    await breathe()
  }
  return text.bytes()
}

async function parquetOf({ columns }: BulkTable): Promise<Uint8Array> {
  const { parquetWriteBuffer } = await import('hyparquet-writer')
  const columnData = columns.map((column) =>
    column.kind === 'text'
      ? { name: column.name, type: 'STRING' as const, data: column.values, nullable: true }
      : {
          name: column.name,
          type: 'DOUBLE' as const,
          data: column.values.map((value) => (Number.isNaN(value) ? null : value)),
          nullable: true,
        },
  )
  return new Uint8Array(parquetWriteBuffer({ columnData }))
}
