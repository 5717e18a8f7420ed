import { createHash } from 'node:crypto'
import { toRfc3339 } from '@assay/till/kernel/clock'
import type { Sql } from '@assay/till/store/database'
import type { FileCache } from '../as-of/file-cache.ts'
import { fromDayNumber, toDayNumber } from '../calendar/dates.ts'
import type { FeedId } from '../feeds/feed.ts'
import type { LicencePolicy } from '../licences/licence-policy.ts'
import { currentMethod } from '../score/method.ts'
import { figureNames } from '../score-history/score-store.ts'
import type { FileRecord } from '../store/files.ts'
import { loadRows } from '../store/load-rows.ts'
import type { SymbolTable } from '../store/symbol-table.ts'
import { type BulkFeed, bulkFeeds } from './bulk-feeds.ts'

export type TableColumn =
  | { name: string; kind: 'text'; values: (string | null)[] }
  | { name: string; kind: 'number'; values: number[] }

export type BulkTable = { rows: number; columns: TableColumn[] }

export type BulkDeps = {
  database: Sql
  fileCache: FileCache
  symbols: SymbolTable
  licences: LicencePolicy
  clock: { nowMs(): number; sleep(ms: number): Promise<void> }
}

/** What a month is made of. With other files, another method or other rights it is another file. */
export type BulkInputs = { key: string; files: readonly FileRecord[] }

type RowFeed = Extract<BulkFeed, { kind: 'rows' }>

export async function bulkMonths(deps: BulkDeps, feed: FeedId): Promise<string[]> {
  const bulk = bulkFeeds[feed]
  if (!bulk) return []
  if (bulk.kind === 'rows')
    return [...new Set(filesOf(deps, bulk).map(({ asOf }) => asOf.slice(0, 7)))].sort().reverse()
  const { rows } = await deps.database.query<{ month: string }>(
    `select distinct to_char(day, 'YYYY-MM') as month from matrix_score_day where feed = $1 order by month desc`,
    [feed],
  )
  return rows.map(({ month }) => month)
}

/** Undefined where nothing is held of the month, or nothing of it may be sold. */
export async function bulkInputs(deps: BulkDeps, feed: FeedId, month: string): Promise<BulkInputs | undefined> {
  const bulk = bulkFeeds[feed]
  if (!bulk) return undefined
  if (bulk.kind === 'rows') {
    const files = filesOf(deps, bulk).filter(({ asOf }) => asOf.startsWith(month))
    const made = files.map(({ name, sha256, revision, availableAtMs }) => [name, sha256, revision, availableAtMs])
    return files.length === 0 ? undefined : { key: hash([layoutVersion, feed, month, made]), files }
  }
  const { rows } = await deps.database.query<{ day: string; key: string }>(
    `select day::text, encode(key, 'hex') as key from matrix_score_day
     where feed = $1 and day >= $2::date and day < $2::date + interval '1 month' order by day`,
    [feed, `${month}-01`],
  )
  return rows.length === 0
    ? undefined
    : { key: hash([layoutVersion, feed, month, currentMethod.name, rows.map(({ day, key }) => [day, key])]), files: [] }
}

const layoutVersion = 3
const hash = (value: unknown) => createHash('sha256').update(JSON.stringify(value)).digest('hex')

/** All revisions: which of them was known when, its own dates say. Oldest first. */
const filesOf = ({ fileCache, licences, clock }: BulkDeps, { sources, part }: RowFeed): FileRecord[] =>
  fileCache
    .all()
    .filter(
      (file) =>
        sources.includes(file.source) &&
        (part === undefined || file.part === part) &&
        file.availableAtMs <= clock.nowMs() &&
        licences.may(file.source, file.synthetic, 'paid'),
    )
    .sort(
      (a, b) =>
        compare(a.asOf, b.asOf) ||
        compare(a.source, b.source) ||
        compare(a.period, b.period) ||
        a.revision - b.revision,
    )

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

export async function makeTable(deps: BulkDeps, feed: FeedId, month: string, inputs: BulkInputs): Promise<BulkTable> {
  const bulk = bulkFeeds[feed] as BulkFeed
  return bulk.kind === 'scores' ? scoresTable(deps, feed, month) : rowsTable(deps, bulk, month, inputs.files)
}

async function rowsTable(
  deps: BulkDeps,
  { dataset, numbers, texts }: RowFeed,
  month: string,
  files: readonly FileRecord[],
): Promise<BulkTable> {
  await deps.symbols.refresh(deps.database)
  const own = { symbol: [] as string[], as_of: [] as string[], available_at: [] as string[], source: [] as string[] }
  const revision: number[] = []
  const numberColumns = numbers.map((name) => ({ name, kind: 'number' as const, values: [] as number[] }))
  const textColumns = texts.map((name) => ({ name, kind: 'text' as const, values: [] as (string | null)[] }))
  const [first, last] = [toDayNumber(`${month}-01`), toDayNumber(`${month}-01`) + 31]
  for (const file of files) {
    const rows = await loadRows(deps.database, dataset, file.id)
    const availableAt = toRfc3339(file.availableAtMs)
    const days = new Map<number, string>()
    for (let i = 0; i < rows.count; i += 1) {
      const symbol = deps.symbols.symbolOf(rows.ids[i] as number)
      const day = rows.days[i] as number
      if (symbol === undefined || symbol.includes(':') || day < first || day >= last) continue
      const asOf = days.get(day) ?? fromDayNumber(day)
      days.set(day, asOf)
      if (!asOf.startsWith(month)) continue
      own.symbol.push(symbol)
      own.as_of.push(asOf)
      own.available_at.push(availableAt)
      own.source.push(file.source)
      revision.push(file.revision)
      for (const column of numberColumns) column.values.push((rows.numbers[column.name] as Float64Array)[i] as number)
      for (const column of textColumns) column.values.push(rows.texts[column.name]?.[i] ?? null)
    }
    // Others wait for this thread.
    await deps.clock.sleep(0)
  }
  return {
    rows: revision.length,
    columns: [
      ...Object.entries(own).map(([name, values]) => ({ name, kind: 'text' as const, values })),
      { name: 'revision', kind: 'number', values: revision },
      ...numberColumns,
      ...textColumns,
    ],
  }
}

type ScoreRow = { symbol: string; days: string; figures: string }

/** One row for each day and symbol, as it was known before the open of the day; by day, then by rank. */
async function scoresTable(deps: BulkDeps, feed: FeedId, month: string): Promise<BulkTable> {
  const method = currentMethod.name
  const names = figureNames(method)
  const { rows } = await deps.database.query<ScoreRow>(
    `select symbol, array_to_string(days, ' ') as days, array_to_string(figures, ' ') as figures
     from matrix_score_month where feed = $1 and month = $2::date and method = $3`,
    [feed, `${month}-01`, method],
  )
  // Column by column: an object for each of a hundred thousand points would take twice the memory.
  const [dayOf, symbolOf]: [string[], string[]] = [[], []]
  const columns = names.map(() => [] as number[])
  for (const [index, { symbol, days, figures }] of rows.entries()) {
    const all = figures.split(' ')
    // A day that was made again is there twice, and the last one counts.
    const places = new Map(days.split(' ').map((day, place) => [day, place]))
    for (const [day, place] of places) {
      dayOf.push(day)
      symbolOf.push(symbol)
      for (const [at, values] of columns.entries()) values.push(Number(all[place * names.length + at]))
    }
    if (index % 500 === 499) await deps.clock.sleep(0)
  }
  const rank = columns[0] as number[]
  const order = dayOf
    .map((_, point) => point)
    .sort((a, b) => compare(dayOf[a] as string, dayOf[b] as string) || (rank[a] as number) - (rank[b] as number))
  const inOrder = <T>(values: readonly T[]) => order.map((point) => values[point] as T)
  return {
    rows: order.length,
    columns: [
      { name: 'day', kind: 'text', values: inOrder(dayOf) },
      { name: 'symbol', kind: 'text', values: inOrder(symbolOf) },
      { name: 'method', kind: 'text', values: order.map(() => method) },
      ...names.map((name, at) => ({ name, kind: 'number' as const, values: inOrder(columns[at] as number[]) })),
    ],
  }
}
