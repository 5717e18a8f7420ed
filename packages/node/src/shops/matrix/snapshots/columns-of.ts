import { feeds, feedUnder } from '../feeds/catalogue.ts'
import type { Feed } from '../feeds/feed.ts'
import { isScoreMethod } from '../score/method.ts'
import type { Snapshot } from './snapshot.ts'

/** Values of one column by row: numbers (flags are 0 and 1, times milliseconds) or texts. Unknown is NaN or ''. */
export type ColumnValues = { kind: 'number'; values: Float64Array } | { kind: 'text'; values: readonly string[] }

export type QueryColumn = { name: string; unit: string; tier: 'live' | 'vip' }

/** Of every row, beside the columns of the feed. */
export const commonColumns: readonly QueryColumn[] = [
  { name: 'rank', unit: 'place', tier: 'live' },
  { name: 'symbol', unit: 'text', tier: 'live' },
  { name: 'name', unit: 'text', tier: 'live' },
  { name: 'kind', unit: 'code', tier: 'live' },
]

const atTop = new Set(['rank', 'symbol', 'name', 'kind', 'score', 'strength', 'coverage_pct'])

/** What rows of a snapshot can be sorted and filtered by. */
export function queryColumns({ manifest }: Snapshot): readonly QueryColumn[] {
  return [...commonColumns, ...columnsUnder(manifest.feed, manifest.method)]
}

const columnsUnder = (feed: Feed['id'], method: string) =>
  (isScoreMethod(method) ? feedUnder(feed, method) : feeds[feed]).columns

const read = new WeakMap<Snapshot, Map<string, ColumnValues>>()

/** Cut out of the rows when first asked for, without parsing them: a pull that does not ask pays nothing. */
export function columnValues(snapshot: Snapshot, column: QueryColumn): ColumnValues {
  const known = read.get(snapshot) ?? new Map<string, ColumnValues>()
  read.set(snapshot, known)
  const found = known.get(column.name) ?? readColumn(snapshot, column)
  known.set(column.name, found)
  return found
}

function readColumn(snapshot: Snapshot, { name, unit, tier }: QueryColumn): ColumnValues {
  const { bytes, starts, liveEnds } = snapshot
  const plain = name.replace(/^factors\./, '')
  const mark = Buffer.from(atTop.has(name) ? `"${plain}":` : `"${plain}":{"value":`)
  const texts: string[] = []
  for (let row = 0; row < liveEnds.length; row += 1) {
    const [from, to] =
      tier === 'live'
        ? [starts[row] as number, liveEnds[row] as number]
        : [liveEnds[row] as number, starts[row + 1] as number]
    const line = bytes.subarray(from, to)
    const at = line.indexOf(mark)
    texts.push(at < 0 ? '' : valueAt(line, at + mark.length))
  }
  if (unit === 'text' || unit === 'code') return { kind: 'text', values: texts }
  return { kind: 'number', values: Float64Array.from(texts, (text) => numberOf(text, unit)) }
}

const [quote, comma, brace] = [34, 44, 125]

/** The JSON value that begins here, a text without its quotes. */
function valueAt(line: Buffer, from: number): string {
  if (line[from] !== quote) {
    let to = from
    while (to < line.length && line[to] !== comma && line[to] !== brace) to += 1
    const text = line.toString('latin1', from, to)
    return text === 'null' ? '' : text
  }
  let to = from + 1
  while (to < line.length && line[to] !== quote) to += line[to] === 92 ? 2 : 1
  return JSON.parse(line.toString('utf8', from, to + 1)) as string
}

function numberOf(text: string, unit: string): number {
  if (text === '') return Number.NaN
  if (unit === 'time') return Date.parse(text)
  if (unit === 'flag') return text === 'true' ? 1 : 0
  return Number(text)
}
