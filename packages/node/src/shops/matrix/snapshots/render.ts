import { csvText } from './csv-text.ts'
import type { Page } from './page.ts'
import { assembleRows, type RowView, rowView } from './row-view.ts'
import type { Snapshot } from './snapshot.ts'
import { createTextBuffer } from './text-buffer.ts'

export type Tier = 'live' | 'vip' | 'delayed'

const comma = 44
const newline = 10

/** What comes before the rows: JSON of the envelope and of the page's own members, without the closing brace. */
export type Head = { facts: Readonly<Record<string, unknown>>; text: string }

/** Slices of the snapshot: the rows are never parsed, and copied once, into the answer. */
export function renderJson(snapshot: Snapshot, page: Page, tier: Tier, head: Head): Buffer {
  return assembleRows(rowView(snapshot, tier === 'vip'), page.rows, {
    head: `${head.text},"data":[`,
    tail: `],"next_cursor":${JSON.stringify(page.nextCursor)}}`,
    separator: comma,
  })
}

/** The envelope is the first line, the rows follow. */
export function renderNdjson(snapshot: Snapshot, page: Page, tier: Tier, head: Head): Buffer {
  return assembleRows(rowView(snapshot, tier === 'vip'), page.rows, {
    head: `${head.text},"next_cursor":${JSON.stringify(page.nextCursor)}}\n`,
    tail: page.rows.length > 0 ? '\n' : '',
    separator: newline,
  })
}

/** One line a row; every value is followed by its source, dates and licence. Facts about the whole go into the comment lines on top. */
export function renderCsv(snapshot: Snapshot, page: Page, tier: Tier, head: Head): Buffer {
  const top = tableFacts.map((name) => `# ${name}: ${String(head.facts[name])}\n`)
  if (page.nextCursor !== null) top.push(`# next_cursor: ${page.nextCursor}\n`)
  const isLarge = page.rows.length >= largeRows
  const { header, view } = isLarge ? wholeCsv(snapshot, tier) : csvLines(snapshot, page.rows, tier)
  return assembleRows(view, isLarge ? page.rows : [...page.rows.keys()], {
    head: `${top.join('')}${header}\n`,
    tail: page.rows.length > 0 ? '\n' : '',
    separator: newline,
  })
}

/** From so many rows on all lines of the snapshot are made once, and every download is a copy of them. */
export const largeRows = 2_000

type CsvLines = { header: string; view: RowView }

const wholes = new WeakMap<Snapshot, { vip?: CsvLines; live?: CsvLines }>()

function wholeCsv(snapshot: Snapshot, tier: Tier): CsvLines {
  const kept = wholes.get(snapshot) ?? {}
  wholes.set(snapshot, kept)
  const name = tier === 'vip' ? 'vip' : 'live'
  const rows = Array.from({ length: snapshot.manifest.row_count }, (_, row) => row)
  const made = kept[name] ?? csvLines(snapshot, rows, tier)
  kept[name] = made
  return made
}

function csvLines(snapshot: Snapshot, wanted: readonly number[], tier: Tier): CsvLines {
  const { rows, columns } = tableOf(snapshot, wanted, tier)
  const text = createTextBuffer()
  const starts = new Uint32Array(rows.length + 1)
  for (let row = 0; row < rows.length; row += 1) {
    let line = ''
    for (let place = 0; place < columns.length; place += 1) {
      if (place > 0) line += ','
      line += csvOf(rows[row] as Row, columns[place] as TableColumn)
    }
    text.add(`${line}\n`)
    starts[row + 1] = text.length()
  }
  return { header: columns.flatMap(namesOf).join(','), view: { bytes: text.bytes(), starts } }
}

/** Said once of a table: in the comment lines of CSV, in the metadata of Parquet. */
export const tableFacts = [
  'feed',
  'tier',
  'as_of',
  'available_at',
  'sha256',
  'method',
  'synthetic',
  'stale',
  'disclaimer',
] as const

type Cell = Record<string, unknown>
type Row = Record<string, unknown>

/** A member of the rows, or a cell of one of their groups: its value and what is known of that. */
type TableColumn = { member: string } | { group: Group; column: string; parts: readonly string[] }
type Group = 'values' | 'details' | 'factors'

const cellParts = ['value', 'source', 'as_of', 'available_at', 'licence']
const factorParts = ['value', 'percentile', 'weight', 'points', 'source', 'as_of', 'available_at', 'licence']
const isGroup = (name: string): name is Group => name === 'values' || name === 'details' || name === 'factors'

/** Rows as a flat table, with all columns that any of them has. */
function tableOf(snapshot: Snapshot, wanted: readonly number[], tier: Tier): { rows: Row[]; columns: TableColumn[] } {
  const view = rowView(snapshot, tier === 'vip')
  const rows = wanted.map(
    (row) => JSON.parse(view.bytes.toString('utf8', view.starts[row], view.starts[row + 1])) as Row,
  )
  const members = new Map<string, Set<string>>()
  for (const row of rows)
    for (const name in row) {
      const cells = members.get(name) ?? new Set()
      if (cells.size === 0) members.set(name, cells)
      if (isGroup(name)) for (const column in row[name] as Row) cells.add(column)
    }
  const columns = [...members].flatMap(([name, cells]): TableColumn[] =>
    isGroup(name)
      ? [...cells].map((column) => ({ group: name, column, parts: name === 'factors' ? factorParts : cellParts }))
      : [{ member: name }],
  )
  return { rows, columns }
}

function namesOf(column: TableColumn): string[] {
  if ('member' in column) return [column.member]
  const name = column.group === 'factors' ? `factor_${column.column}` : column.column
  return column.parts.map((part) => (part !== 'value' ? `${name}_${part}` : name === 'score' ? 'score_value' : name))
}

function csvOf(row: Row, column: TableColumn): string {
  if ('member' in column) return csvText(plain(column.member, row[column.member]))
  const cell = (row[column.group] as Record<string, Cell | null> | undefined)?.[column.column]
  const { parts } = column
  if (cell === null || cell === undefined) return ','.repeat(parts.length - 1)
  let text = csvText(cell['value'])
  for (let part = 1; part < parts.length; part += 1) text += `,${csvText(cell[parts[part] as string])}`
  return text
}

/** Lists, and the values of a trend, are one text. */
function plain(name: string, value: unknown): unknown {
  if (name === 'trend') return (value as { values: unknown[] } | undefined)?.values.join(' ')
  return Array.isArray(value) ? value.join(' ') : value
}

/** The same table by columns. */
export function columnsOf(
  snapshot: Snapshot,
  wanted: readonly number[],
  tier: Tier,
): { name: string; values: unknown[] }[] {
  const { rows, columns } = tableOf(snapshot, wanted, tier)
  return columns.flatMap((column) => {
    const names = namesOf(column)
    if ('member' in column)
      return [{ name: column.member, values: rows.map((row) => plain(column.member, row[column.member]) ?? null) }]
    const { group, parts } = column
    const cells = rows.map((row) => (row[group] as Record<string, Cell | null> | undefined)?.[column.column])
    return names.map((name, place) => ({ name, values: cells.map((cell) => cell?.[parts[place] as string] ?? null) }))
  })
}
