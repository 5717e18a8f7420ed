import type { Page } from './page.ts'
import type { Snapshot } from './snapshot.ts'

export type Tier = 'live' | 'vip' | 'delayed'

const comma = Buffer.from(',')
const close = Buffer.from('}')
const newline = Buffer.from('\n')

/** Slices of the snapshot: the rows are never parsed or copied before the answer is put together. */
function rowPieces(snapshot: Snapshot, page: Page, tier: Tier, separator: Buffer): Buffer[] {
  const pieces: Buffer[] = []
  const { bytes, starts, liveEnds } = snapshot
  for (const [index, row] of page.rows.entries()) {
    if (index > 0) pieces.push(separator)
    // Without the newline that ends each row.
    if (tier === 'vip') pieces.push(bytes.subarray(starts[row], (starts[row + 1] as number) - 1))
    else pieces.push(bytes.subarray(starts[row], liveEnds[row]), close)
  }
  return pieces
}

export function renderJson(snapshot: Snapshot, page: Page, tier: Tier, envelope: Record<string, unknown>): Buffer {
  const head = JSON.stringify(envelope).slice(0, -1)
  const tail = `],"next_cursor":${JSON.stringify(page.nextCursor)}}`
  return Buffer.concat([Buffer.from(`${head},"data":[`), ...rowPieces(snapshot, page, tier, comma), Buffer.from(tail)])
}

/** The envelope is the first line, the rows follow. */
export function renderNdjson(snapshot: Snapshot, page: Page, tier: Tier, envelope: Record<string, unknown>): Buffer {
  const head = Buffer.from(`${JSON.stringify({ ...envelope, next_cursor: page.nextCursor })}\n`)
  return Buffer.concat([head, ...rowPieces(snapshot, page, tier, newline), newline])
}

type Cell = { value: unknown; source?: string; as_of?: string; available_at?: string; licence?: string } & Record<
  string,
  unknown
>

/** One line a row; every value is followed by its source, dates and licence. Facts about the whole go into the comment lines on top. */
export function renderCsv(snapshot: Snapshot, page: Page, tier: Tier, envelope: Record<string, unknown>): string {
  const rows = page.rows.map((row) => {
    const start = snapshot.starts[row] as number
    const text =
      tier === 'vip'
        ? snapshot.bytes.toString('utf8', start, (snapshot.starts[row + 1] as number) - 1)
        : `${snapshot.bytes.toString('utf8', start, snapshot.liveEnds[row])}}`
    return flatten(JSON.parse(text) as Record<string, unknown>)
  })
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  const facts = ['feed', 'tier', 'as_of', 'available_at', 'sha256', 'method', 'synthetic', 'stale', 'disclaimer']
  const top = facts.map((name) => `# ${name}: ${String(envelope[name])}`)
  if (page.nextCursor !== null) top.push(`# next_cursor: ${page.nextCursor}`)
  return `${[...top, names.join(','), ...rows.map((row) => names.map((name) => csvCell(row[name])).join(','))].join('\n')}\n`
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
