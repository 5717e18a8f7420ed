import { toRfc3339 } from '@assay/till/kernel/clock'
import type { FeedId } from '../feeds/feed.ts'
import type { LicencePolicy, Variant } from '../licences/licence-policy.ts'
import { lastScoredDay } from '../score-history/score-days.ts'
import { readScores } from '../score-history/score-store.ts'
import type { DatasetId, SourceId } from '../sources/source.ts'
import { fieldNames } from '../sources/vendor-fields.ts'
import { datasets } from '../store/datasets.ts'
import type { FileRecord } from '../store/files.ts'
import { type Instrument, type InstrumentDeps, readInstrument } from './read-instrument.ts'

type Series = {
  source: SourceId
  dataset: DatasetId
  columns: readonly string[]
  /** Which of them count shares, and which are prices of one: both change by a split. */
  shares?: readonly string[]
  prices?: readonly string[]
  part?: string
  /** Several files may each hold some of the columns of a day. */
  joined?: true
}

const series: Record<string, Series> = {
  short_volume: {
    source: 'finra-short-volume',
    dataset: 'short_volume',
    columns: ['short_volume', 'exempt_volume', 'total_volume'],
    shares: ['short_volume', 'exempt_volume', 'total_volume'],
    part: 'CNMS',
  },
  short_interest: {
    source: 'finra-short-interest',
    dataset: 'short_interest',
    columns: ['position', 'previous_position', 'average_volume', 'days_to_cover'],
    shares: ['position', 'previous_position', 'average_volume'],
  },
  fails: {
    source: 'sec-fails',
    dataset: 'fails',
    columns: ['quantity', 'price'],
    shares: ['quantity'],
    prices: ['price'],
  },
  borrow: {
    source: 'ibkr-borrow',
    dataset: 'borrow',
    columns: ['fee_pct', 'rebate_pct', 'available'],
    shares: ['available'],
  },
  vendor: { source: 'vendor-fields', dataset: 'fields', columns: fieldNames, joined: true },
  price: { source: 'prices', dataset: 'prices', columns: ['close', 'volume'], shares: ['volume'], prices: ['close'] },
}

/** Five years. */
export const historyDaysMax = 1_260

export type HistoryQuery = { feed: FeedId; symbol: string; days: number; knownAtMs: number; sinceDate: string }
export type HistoryDeps = InstrumentDeps & { licences: LicencePolicy }

/** Past values of one symbol, each in the revision that was known at the moment asked for. */
export async function readHistory(
  deps: HistoryDeps,
  query: HistoryQuery,
  variant: Variant,
): Promise<Record<string, unknown>> {
  const instrument = await readInstrument(deps, query.symbol, query.knownAtMs)
  const names = Object.keys(series)
  const read = await Promise.all(
    names.map((name) => readSeries(deps, series[name] as Series, query, instrument, variant)),
  )
  const scores = await readScores(deps.sql, {
    feed: query.feed,
    names: instrument.names,
    since: query.sinceDate,
    until: lastScoredDay(query.knownAtMs),
  })
  return {
    symbol: query.symbol,
    days: query.days,
    // Kept of what is sold; a tier that shows less has none.
    scores: variant === 'paid' ? scores.slice(-query.days) : [],
    actions: instrument.actions,
    series: Object.fromEntries(names.map((name, index) => [name, read[index]])),
  }
}

type Row = Record<string, number | null> & { as_of: string; file_id: number; symbol: string }

/** One block of each file holds all rows of a symbol; in it, positions are looked up and nothing else is taken apart. */
const blocksSql = (dataset: DatasetId, columns: readonly string[]) => `
  select b.file_id, s.symbol, b.as_of[p.i] as as_of, ${columns.map((name) => `b.${name}[p.i] as ${name}`).join(', ')}
  from matrix_symbol s
    cross join unnest($1::int4[]) as f(id)
    cross join lateral (select * from ${datasets[dataset].table} b
      where b.file_id = f.id and b.last_symbol >= s.symbol collate "C" order by b.last_symbol limit 1) b
    cross join lateral unnest(array_positions(b.symbol_ids, s.id)) as p(i)
  where s.symbol = any($2::text[]) and b.first_symbol <= s.symbol collate "C"`

async function readSeries(
  deps: HistoryDeps,
  { source, dataset, columns, part, joined, ...units }: Series,
  query: HistoryQuery,
  instrument: Instrument,
  variant: Variant,
): Promise<unknown[]> {
  const files = new Map<number, FileRecord>()
  for (const file of deps.fileCache.known(source, query.knownAtMs))
    if (file.asOf >= query.sinceDate && (part === undefined || file.part === part)) files.set(file.id, file)
  if (files.size === 0) return []
  const { rows } = await deps.sql.query<Row>({
    name: `matrix_history_${dataset}`,
    text: blocksSql(dataset, columns),
    values: [[...files.keys()], instrument.names.map(({ symbol }) => symbol)],
  })
  const newest = new Map<string, Found>()
  for (const row of rows) {
    if (row.as_of < query.sinceDate || !hadName(instrument, row)) continue
    const found = { row, file: files.get(row.file_id) as FileRecord }
    const other = newest.get(row.as_of)
    if (!other) newest.set(row.as_of, found)
    else if (joined) newest.set(row.as_of, isLater(found.file, other.file) ? join(found, other) : join(other, found))
    else if (isLater(found.file, other.file)) newest.set(row.as_of, found)
  }
  return [...newest.values()]
    .sort((a, b) => (a.row.as_of < b.row.as_of ? -1 : 1))
    .slice(-query.days)
    .filter(({ file }) => deps.licences.may(source, file.synthetic, variant))
    .map(({ row, file }) => ({
      as_of: row.as_of,
      ...figuresOf(row, columns, units, instrument.factorOf(row.as_of)),
      ...originOf(deps.licences, file),
    }))
}

const origins = new WeakMap<FileRecord, Record<string, unknown>>()

/** The same for all symbols of a file, and five years are thousands of rows. */
function originOf(licences: LicencePolicy, file: FileRecord): Record<string, unknown> {
  const { source, synthetic, availableAtMs, ingestedAtMs, revision } = file
  const known = origins.get(file) ?? {
    source,
    available_at: toRfc3339(availableAtMs),
    ingested_at: toRfc3339(ingestedAtMs),
    revision,
    licence: licences.licenceOf({ source, synthetic }).id,
  }
  origins.set(file, known)
  return known
}

type Found = { row: Row; file: FileRecord }

/** Fields that are null in the later file come from the other. The row counts as known once both files are. */
const join = (later: Found, other: Found): Found => ({
  row: {
    ...other.row,
    ...(Object.fromEntries(Object.entries(later.row).filter(([, value]) => value !== null)) as Row),
  },
  file: {
    ...later.file,
    availableAtMs: Math.max(later.file.availableAtMs, other.file.availableAtMs),
    revision: Math.max(later.file.revision, other.file.revision),
  },
})

/** Where several files speak of a day, the one for the later period counts, such as the last borrow file of a day. */
const isLater = (one: FileRecord, other: FileRecord) =>
  one.period === other.period ? one.id > other.id : one.period > other.period

const hadName = ({ names }: Instrument, { symbol, as_of }: Row) =>
  names.some((name) => name.symbol === symbol && as_of > name.after && as_of < name.before)

/** In shares of now, with the factor that gives back what was published; a split of unknown ratio changes nothing. */
function figuresOf(
  row: Row,
  columns: readonly string[],
  { shares = [], prices = [] }: Pick<Series, 'shares' | 'prices'>,
  factor: number,
): Record<string, number | null> {
  const scaleOf = (name: string) => (shares.includes(name) ? factor : prices.includes(name) ? 1 / factor : 1)
  const known = !Number.isNaN(factor)
  const figures: Record<string, number | null> = {}
  for (const name of columns) {
    const value = row[name] ?? null
    figures[name] = value === null || !known || factor === 1 ? value : value * scaleOf(name)
  }
  if (factor !== 1) figures['split_factor'] = known ? factor : null
  return figures
}
