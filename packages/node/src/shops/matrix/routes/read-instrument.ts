import { toRfc3339 } from '@assay/till/kernel/clock'
import type { Sql } from '@assay/till/store/database'
import type { FileCache } from '../as-of/file-cache.ts'
import { findActions, type Line, type Rename, type Split, shareFactor } from '../as-of/find-actions.ts'
import { readListed } from '../as-of/load-actions.ts'
import { fromDayNumber, type IsoDate, toDayNumber } from '../calendar/dates.ts'
import { easternDate } from '../calendar/eastern-time.ts'
import type { FileRecord } from '../store/files.ts'
import type { SymbolTable } from '../store/symbol-table.ts'
import { joinedSpelling } from '../symbols/normalise-symbol.ts'

/** The symbols one paper had, each with the days between which it had it, and what its shares of a day are now. */
export type Instrument = {
  names: readonly { symbol: string; after: IsoDate; before: IsoDate }[]
  factorOf(day: IsoDate): number
  actions: readonly Record<string, unknown>[]
}

export type InstrumentDeps = { sql: Sql; fileCache: FileCache; symbols: SymbolTable }

/** Some files write no separators. */
const spellings = (symbol: string) => [...new Set([symbol, joinedSpelling(symbol)])]

const always = { after: '0000-01-01', before: '9999-12-31' }
const namesMax = 5

/** What was known of a paper's symbols and splits at a moment. */
export async function readInstrument(deps: InstrumentDeps, symbol: string, knownAtMs: number): Promise<Instrument> {
  const today = toDayNumber(easternDate(knownAtMs))
  const [fails, lists] = [deps.fileCache.known('sec-fails', knownAtMs), deps.fileCache.known('actions', knownAtMs)]
  const files = new Map([...fails, ...lists].map((file) => [file.id, file]))
  const listed = await readListed(deps, lists)
  const { splits, renames } = findActions(await readLines(deps.sql, spellings(symbol), fails), listed)
  const due = renames.filter(({ firstNew }) => firstNew <= today)
  const used: Rename[] = due.filter(({ from }) => from === symbol)
  const names = [{ symbol, ...always }]
  const own = spellings(symbol).flatMap((name) => splits.get(name) ?? [])
  for (let name = names[0]; name && names.length < namesMax; name = names[names.length - 1]) {
    const rename = due.find(({ to, from }) => to === name?.symbol && !names.some((one) => one.symbol === from))
    if (!rename) break
    used.push(rename)
    name.after = fromDayNumber(rename.lastOld)
    names.push({ symbol: rename.from, ...always, before: fromDayNumber(rename.firstNew) })
    own.push(...(splits.get(rename.from) ?? []).filter(({ day }) => day <= rename.firstNew))
  }
  const applied = own.filter(({ day }) => day <= today)
  return {
    names: names.flatMap((name) => spellings(name.symbol).map((spelled) => ({ ...name, symbol: spelled }))),
    factorOf: (day) => (applied.length === 0 ? 1 : shareFactor(applied, toDayNumber(day), today)),
    actions: [...applied.map((split) => splitShown(split, files)), ...used.map((rename) => renameShown(rename, files))],
  }
}

const seen = (id: number, files: ReadonlyMap<number, FileRecord>) => {
  const file = files.get(id) as FileRecord
  return { source: file.source, available_at: toRfc3339(file.availableAtMs) }
}

const splitShown = ({ day, factor, file }: Split, files: ReadonlyMap<number, FileRecord>) => ({
  kind: 'split',
  date: fromDayNumber(day),
  factor: Number.isNaN(factor) ? null : factor,
  ...seen(file, files),
})

const renameShown = ({ from, to, firstNew, file }: Rename, files: ReadonlyMap<number, FileRecord>) => ({
  kind: 'symbol',
  date: fromDayNumber(firstNew),
  from,
  to,
  ...seen(file, files),
})

type LineRow = Omit<Line, 'first' | 'last'> & { first: string; last: string }

/** The symbol's security numbers, and all symbols that these had. The number itself is never shown. */
async function readLines(sql: Sql, asked: readonly string[], files: readonly FileRecord[]): Promise<Line[]> {
  const ids = files.map(({ id }) => id)
  const found = new Map<string, Line>()
  const known = new Set(asked)
  let symbols = asked
  for (let step = 0; step < namesMax && symbols.length > 0 && ids.length > 0; step += 1) {
    const { rows } = await sql.query<LineRow>({ name: 'matrix_lines', text: linesSql, values: [ids, symbols] })
    for (const row of rows)
      found.set(`${row.cusip} ${row.symbol}`, {
        ...row,
        first: toDayNumber(row.first),
        last: toDayNumber(row.last),
        firstPrice: row.firstPrice ?? Number.NaN,
        lastPrice: row.lastPrice ?? Number.NaN,
      })
    symbols = [...new Set(rows.map((row) => row.symbol))].filter((name) => !known.has(name))
    for (const name of symbols) known.add(name)
  }
  return [...found.values()]
}

const linesSql = `
  with numbers as (
    select array_agg(distinct b.cusip[p.i]) as cusips
    from matrix_symbol s
      cross join unnest($1::int4[]) as f(id)
      cross join lateral (select * from matrix_fails_block b
        where b.file_id = f.id and b.last_symbol >= s.symbol collate "C" order by b.last_symbol limit 1) b
      cross join lateral unnest(array_positions(b.symbol_ids, s.id)) as p(i)
    where s.symbol = any($2::text[]) and b.first_symbol <= s.symbol collate "C")
  select s.symbol, r.cusip, min(r.as_of)::text as first, max(r.as_of)::text as last, min(b.file_id) as file,
    (array_agg(r.price order by r.as_of))[1] as "firstPrice", (array_agg(r.price order by r.as_of desc))[1] as "lastPrice"
  from numbers n, matrix_fails_block b, unnest(b.symbol_ids, b.as_of, b.cusip, b.price) as r (id, as_of, cusip, price), matrix_symbol s
  where b.cusip && n.cusips and b.file_id = any($1::int4[]) and r.cusip = any(n.cusips) and s.id = r.id
  group by s.symbol, r.cusip`
