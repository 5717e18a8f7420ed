import type { Sql } from '@assay/till/store/database'
import { textArray } from './pg-arrays.ts'

/** Numbers of symbols, kept in memory: there are tens of thousands, and every row names one. */
export type SymbolTable = {
  idsOf(sql: Sql, symbols: readonly string[]): Promise<Int32Array>
  /** All symbols with an id up to what was last seen, by id. */
  refresh(sql: Sql): Promise<void>
  symbolOf(id: number): string | undefined
  idOf(symbol: string): number | undefined
  /** Greatest id known. */
  last(): number
}

export function createSymbolTable(): SymbolTable {
  const ids = new Map<string, number>()
  const symbols: (string | undefined)[] = []
  /** Refreshed up to this id. What files name may be known beyond it, without all that is between. */
  let refreshedTo = 0
  const keep = (rows: readonly { id: number; symbol: string }[]) => {
    for (const { id, symbol } of rows) {
      ids.set(symbol, id)
      symbols[id] = symbol
    }
  }
  const refresh = async (sql: Sql) => {
    const { rows } = await sql.query<{ id: number; symbol: string }>(
      'select id, symbol from matrix_symbol where id > $1 order by id',
      [refreshedTo],
    )
    keep(rows)
    refreshedTo = Math.max(refreshedTo, rows.at(-1)?.id ?? 0)
  }
  return {
    refresh,
    symbolOf: (id) => symbols[id],
    idOf: (symbol) => ids.get(symbol),
    last: () => symbols.length - 1,
    idsOf: async (sql, wanted) => {
      const missing = [...new Set(wanted.filter((symbol) => !ids.has(symbol)))].sort()
      if (missing.length > 0) {
        await sql.query(
          'insert into matrix_symbol (symbol) select unnest($1::text[]) on conflict (symbol) do nothing',
          [textArray(missing)],
        )
        const { rows } = await sql.query<{ id: number; symbol: string }>(
          'select id, symbol from matrix_symbol where symbol = any($1::text[])',
          [textArray(missing)],
        )
        keep(rows)
      }
      return Int32Array.from(wanted, (symbol) => ids.get(symbol) as number)
    },
  }
}
