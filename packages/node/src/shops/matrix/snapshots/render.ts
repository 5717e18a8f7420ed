import type { Page } from './page.ts'
import { assembleRows, rowView } from './row-view.ts'
import type { Snapshot } from './snapshot.ts'

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

type Cell = { value: unknown; source?: string; as_of?: string; available_at?: string; licence?: string } & Record<
  string,
  unknown
>

/** One line a row; every value is followed by its source, dates and licence. Facts about the whole go into the comment lines on top. */
export function renderCsv(snapshot: Snapshot, page: Page, tier: Tier, head: Head): string {
  const { rows, names } = flatRows(snapshot, page, tier)
  const top = tableFacts.map((name) => `# ${name}: ${String(head.facts[name])}`)
  if (page.nextCursor !== null) top.push(`# next_cursor: ${page.nextCursor}`)
  return `${[...top, names.join(','), ...rows.map((row) => names.map((name) => csvCell(row[name])).join(','))].join('\n')}\n`
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

/** Rows as a flat table, with all columns that any of them has. */
export function flatRows(snapshot: Snapshot, page: Page, tier: Tier) {
  const view = rowView(snapshot, tier === 'vip')
  const rows = page.rows.map((row) => {
    const text = view.bytes.toString('utf8', view.starts[row], view.starts[row + 1])
    return flatten(JSON.parse(text) as Record<string, unknown>)
  })
  const names = new Set<string>()
  for (const row of rows) for (const name of Object.keys(row)) names.add(name)
  return { rows, names: [...names] }
}

function flatten(row: Record<string, unknown>): Record<string, unknown> {
  const flat: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(row)) {
    if (name === 'values' || name === 'details' || name === 'factors') {
      for (const [column, cell] of Object.entries(value as Record<string, Cell | null>))
        addCell(flat, column, cell, name)
    } else if (name === 'trend') flat.trend = (value as { values: unknown[] }).values.join(' ')
    else flat[name] = Array.isArray(value) ? value.join(' ') : value
  }
  return flat
}

function addCell(flat: Record<string, unknown>, column: string, cell: Cell | null, group: string): void {
  const name = group === 'factors' ? `factor_${column}` : column
  flat[name === 'score' ? 'score_value' : name] = cell?.value
  for (const part of ['percentile', 'weight', 'points']) if (group === 'factors') flat[`${name}_${part}`] = cell?.[part]
  for (const part of ['source', 'as_of', 'available_at', 'licence']) flat[`${name}_${part}`] = cell?.[part]
}

/** A cell that a spreadsheet would take for a formula is made text. */
function csvCell(value: unknown): string {
  if (value === null || value === undefined) return ''
  const text = String(value)
  const safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
