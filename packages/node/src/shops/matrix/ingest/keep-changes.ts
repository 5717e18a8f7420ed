import type { Tx } from '@assay/till/store/database'
import { type RowSet, writeRows } from '../sources/row-set.ts'
import type { ParsedFile } from '../sources/source.ts'
import { datasets } from '../store/datasets.ts'
import { loadRows } from '../store/load-rows.ts'
import type { SymbolTable } from '../store/symbol-table.ts'

const { numbers } = datasets.borrow

/**
 * The borrow file comes 26 times a day with 19,000 rows that hardly move. The first of a day is stored whole, the others
 * as differences; a row without values means the symbol is no longer in the file.
 */
export async function keepChanges(tx: Tx, symbols: SymbolTable, parsed: ParsedFile): Promise<RowSet> {
  const { rows: files } = await tx.query<{ id: number }>(
    `select id from matrix_file where source = 'ibkr-borrow' and as_of = $1 and period < $2 order by period, revision`,
    [parsed.asOf, parsed.period],
  )
  if (files.length === 0) return parsed.rows
  const state = new Map<string, string>()
  for (const { id } of files) {
    const loaded = await loadRows(tx, 'borrow', id)
    for (let i = 0; i < loaded.count; i += 1)
      state.set(symbols.symbolOf(loaded.ids[i] as number) ?? '', valuesAt(loaded.numbers, i))
  }
  const changed = writeRows(parsed.rows.count + state.size, { numbers })
  for (let i = 0; i < parsed.rows.count; i += 1) {
    const symbol = parsed.rows.symbols[i] as string
    const same = state.get(symbol) === valuesAt(parsed.rows.numbers, i)
    state.delete(symbol)
    if (same) continue
    const row = changed.add(symbol, parsed.rows.days[i] as number)
    for (const name of numbers) changed.set(name, row, (parsed.rows.numbers[name] as Float64Array)[i] as number)
  }
  for (const [symbol, values] of state) if (values !== withdrawn) changed.add(symbol, parsed.rows.days[0] ?? 0)
  return changed.done()
}

const withdrawn = numbers.map(() => 'NaN').join()

function valuesAt(columns: Record<string, Float64Array>, row: number): string {
  return numbers.map((name) => String((columns[name] as Float64Array)[row])).join()
}
