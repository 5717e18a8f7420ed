import type { Page } from './page.ts'
import { type ParquetColumn, parquetBytes } from './parquet-bytes.ts'
import { columnsOf, type Head, type Tier, tableFacts } from './render.ts'
import type { Snapshot } from './snapshot.ts'

/** The same table as CSV, with types; facts about the whole go into the metadata of the file. */
export async function renderParquet(snapshot: Snapshot, page: Page, tier: Tier, head: Head): Promise<Uint8Array> {
  const columns = columnsOf(snapshot, page, tier).map(({ name, values }) => {
    const type = typeOf(values)
    return { name, type, data: type === 'STRING' ? values.map(textOrNull) : values } as ParquetColumn
  })
  const facts = tableFacts.map((key): { key: string; value: string } => ({ key, value: String(head.facts[key]) }))
  if (page.nextCursor !== null) facts.push({ key: 'next_cursor', value: page.nextCursor })
  return parquetBytes(columns, facts)
}

const textOrNull = (value: unknown) => (value === null ? null : String(value))

/** A column of nothing but numbers, or flags, is one; anything else is text. */
function typeOf(values: readonly unknown[]): 'DOUBLE' | 'BOOLEAN' | 'STRING' {
  const known = values.filter((value) => value !== null)
  if (known.length > 0 && known.every((value) => typeof value === 'number')) return 'DOUBLE'
  return known.length > 0 && known.every((value) => typeof value === 'boolean') ? 'BOOLEAN' : 'STRING'
}
