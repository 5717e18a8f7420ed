import { toRfc3339 } from '../../kernel/clock.ts'
import type { Sql } from '../../store/database.ts'
import type { LicenceGate, Variant } from '../licences/gate.ts'
import type { SourceId } from '../sources/source.ts'
import type { SymbolBook } from '../store/symbol-book.ts'
import { joinedSpelling } from '../symbols/normalise-symbol.ts'

type Series = { source: SourceId; table: string; columns: readonly string[]; part?: string }

const series: Record<string, Series> = {
  short_volume: {
    source: 'finra-short-volume',
    table: 'matrix_short_volume',
    columns: ['short_volume', 'exempt_volume', 'total_volume'],
    part: 'CNMS',
  },
  short_interest: {
    source: 'finra-short-interest',
    table: 'matrix_short_interest',
    columns: ['position', 'previous_position', 'average_volume', 'days_to_cover'],
  },
  fails: { source: 'sec-fails', table: 'matrix_fails', columns: ['quantity', 'price'] },
  borrow: { source: 'ibkr-borrow', table: 'matrix_borrow', columns: ['fee_pct', 'rebate_pct', 'available'] },
  price: { source: 'price-csv', table: 'matrix_prices', columns: ['close', 'volume'] },
}

export const historyDaysMax = 60

export type HistoryQuery = { symbol: string; days: number; knownAtMs: number; sinceDate: string }

/** Past values of one symbol, each in the revision that was known at the moment asked for. */
export async function readHistory(
  deps: { sql: Sql; symbols: SymbolBook; gate: LicenceGate },
  query: HistoryQuery,
  variant: Variant,
): Promise<Record<string, unknown>> {
  const ids = [query.symbol, joinedSpelling(query.symbol)].flatMap((symbol) => deps.symbols.idOf(symbol) ?? [])
  const names = Object.keys(series)
  const read = await Promise.all(
    names.map((name) => readSeries(deps, series[name] as Series, [...new Set(ids)], query, variant)),
  )
  return {
    symbol: query.symbol,
    days: query.days,
    series: Object.fromEntries(names.map((name, index) => [name, read[index]])),
  }
}

type Row = Record<string, number | null> & {
  as_of: string
  available_at: Date
  ingested_at: Date
  revision: number
  synthetic: boolean
}

async function readSeries(
  deps: { sql: Sql; gate: LicenceGate },
  { source, table, columns, part }: Series,
  ids: readonly number[],
  query: HistoryQuery,
  variant: Variant,
): Promise<unknown[]> {
  const { rows } = await deps.sql.query<Row>({
    name: `matrix_history_${table}`,
    text: `select distinct on (r.as_of) r.as_of, f.available_at, f.ingested_at, f.revision, f.synthetic, ${columns.map((name) => `r.${name}`).join(', ')}
      from ${table} r join matrix_file f on f.id = r.file_id
      where r.symbol_id = any($1::int[]) and r.as_of >= $2::date and f.available_at <= $3 and ($4::text is null or f.part = $4)
      order by r.as_of desc, f.revision desc, f.period desc, f.id desc limit $5`,
    values: [ids, query.sinceDate, new Date(query.knownAtMs), part ?? null, query.days],
  })
  return rows
    .filter((row) => deps.gate.may(source, row.synthetic, variant))
    .reverse()
    .map((row) => ({
      as_of: row.as_of,
      ...Object.fromEntries(columns.map((name) => [name, row[name]])),
      source,
      available_at: toRfc3339(row.available_at.getTime()),
      ingested_at: toRfc3339(row.ingested_at.getTime()),
      revision: row.revision,
      licence: deps.gate.licenceOf({ source, synthetic: row.synthetic }).id,
    }))
}
