import type { Page } from './page.ts'
import { type ParquetColumn, parquetBytes } from './parquet-bytes.ts'
import { columnsOf, type Head, largeRows, type Tier, tableFacts } from './render.ts'
import type { Snapshot } from './snapshot.ts'

/** The same table as CSV, with types; facts about the whole go into the metadata of the file. */
export async function renderParquet(snapshot: Snapshot, page: Page, tier: Tier, head: Head): Promise<Uint8Array> {
  const facts = tableFacts.map((key): { key: string; value: string } => ({ key, value: String(head.facts[key]) }))
  if (page.nextCursor !== null) facts.push({ key: 'next_cursor', value: page.nextCursor })
  const columns =
    page.rows.length < largeRows
      ? typedColumns(snapshot, page.rows, tier)
      : wholeTable(snapshot, tier).map(
          (column) => ({ ...column, data: page.rows.map((row) => column.data[row]) }) as ParquetColumn,
        )
  return parquetBytes(columns, facts)
}

const wholes = new WeakMap<Snapshot, Map<boolean, ParquetColumn[]>>()

/** Taking the rows apart is most of the work: done once for a snapshot, and every large download picks its rows. */
function wholeTable(snapshot: Snapshot, tier: Tier): ParquetColumn[] {
  const kept = wholes.get(snapshot) ?? new Map<boolean, ParquetColumn[]>()
  wholes.set(snapshot, kept)
  const every = () => Array.from({ length: snapshot.manifest.row_count }, (_, row) => row)
  const made = kept.get(tier === 'vip') ?? typedColumns(snapshot, every(), tier)
  kept.set(tier === 'vip', made)
  return made
}

function typedColumns(snapshot: Snapshot, rows: readonly number[], tier: Tier): ParquetColumn[] {
  return columnsOf(snapshot, rows, tier).map(({ name, values }) => {
    const type = typeOf(values)
    return { name, type, data: type === 'STRING' ? sharedTexts(values) : values } as ParquetColumn
  })
}

/** Sources, dates and licences are the same in thousands of rows: each text is kept once. */
function sharedTexts(values: readonly unknown[]): (string | null)[] {
  const known = new Map<unknown, string>()
  return values.map((value) => {
    if (value === null) return null
    const text = known.get(value) ?? String(value)
    known.set(value, text)
    return text
  })
}

/** A column of nothing but numbers, or flags, is one; anything else is text. */
function typeOf(values: readonly unknown[]): 'DOUBLE' | 'BOOLEAN' | 'STRING' {
  const known = values.filter((value) => value !== null)
  if (known.length > 0 && known.every((value) => typeof value === 'number')) return 'DOUBLE'
  return known.length > 0 && known.every((value) => typeof value === 'boolean') ? 'BOOLEAN' : 'STRING'
}
