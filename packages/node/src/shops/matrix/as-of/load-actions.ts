import type { Sql } from '@assay/till/store/database'
import type { SourceId } from '../sources/source.ts'
import type { FileRecord } from '../store/files.ts'
import type { LoadedRows } from '../store/load-rows.ts'
import type { SymbolTable } from '../store/symbol-table.ts'
import type { FileCache } from './file-cache.ts'
import { type Actions, findActions, type Line, type Listed, type Rename } from './find-actions.ts'

type Deps = { sql: Sql; fileCache: FileCache; symbols: SymbolTable }

/** The result depends only on the files, which change twice a month, so the last few results are cached. */
const kept = new WeakMap<FileCache, Map<string, Actions>>()
const keptMax = 8

/** Splits and changes of symbols that the files of this moment show. Of a symbol that went on to another paper none is reported. */
export async function loadActions(deps: Deps, known: (source: SourceId) => readonly FileRecord[]): Promise<Actions> {
  const [fails, lists] = [known('sec-fails'), known('actions')]
  const key = [...fails, ...lists].map(({ id }) => id).join()
  const own = kept.get(deps.fileCache) ?? new Map<string, Actions>()
  kept.set(deps.fileCache, own)
  const found = own.get(key)
  if (found) return found
  const lines = new Map<string, Line>()
  for (const file of [...fails].reverse())
    addLines(lines, file, await deps.fileCache.rows(deps.sql, 'fails', file), deps.symbols)
  const actions = findActions([...lines.values()], await readListed(deps, lists))
  const lastSeen = new Map<string, number>()
  for (const { symbol, last } of lines.values()) lastSeen.set(symbol, Math.max(last, lastSeen.get(symbol) ?? 0))
  const gone = ({ from, firstNew }: Rename) => (lastSeen.get(from) ?? 0) < firstNew
  const made = { ...actions, renames: actions.renames.filter(gone) }
  own.set(key, made)
  for (const old of own.keys()) if (own.size > keptMax) own.delete(old)
  return made
}

function addLines(lines: Map<string, Line>, file: FileRecord, rows: LoadedRows, symbols: SymbolTable): void {
  const price = rows.numbers.price as Float64Array
  for (let i = 0; i < rows.count; i += 1) {
    const cusip = rows.texts.cusip?.[i]
    const symbol = symbols.symbolOf(rows.ids[i] as number)
    if (cusip && symbol !== undefined)
      addToLine(lines, { cusip, symbol, day: rows.days[i] as number, price: price[i] as number, file: file.id })
  }
}

export function addToLine(
  lines: Map<string, Line>,
  { cusip, symbol, day, price, file }: { cusip: string; symbol: string; day: number; price: number; file: number },
): void {
  const key = `${cusip} ${symbol}`
  const line = lines.get(key)
  if (!line) {
    lines.set(key, { cusip, symbol, first: day, last: day, firstPrice: price, lastPrice: price, file })
    return
  }
  if (day < line.first || (day === line.first && Number.isNaN(line.firstPrice))) {
    line.first = day
    line.firstPrice = price
  }
  if (day >= line.last) {
    line.last = day
    if (!Number.isNaN(price)) line.lastPrice = price
  }
}

/** Where two lists speak of one symbol and day, the newer one counts. */
export async function readListed(deps: Deps, lists: readonly FileRecord[]): Promise<Listed[]> {
  const listed = new Map<string, Listed>()
  if (lists.length > 0) await deps.symbols.refresh(deps.sql)
  for (const file of [...lists].sort((a, b) => a.availableAtMs - b.availableAtMs || a.id - b.id)) {
    const rows = await deps.fileCache.rows(deps.sql, 'actions', file)
    for (let i = 0; i < rows.count; i += 1) {
      const symbol = deps.symbols.symbolOf(rows.ids[i] as number)
      const day = rows.days[i] as number
      const factor = (rows.numbers.factor as Float64Array)[i] as number
      if (symbol !== undefined)
        listed.set(`${symbol} ${day}`, {
          symbol,
          day,
          factor,
          newSymbol: rows.texts.new_symbol?.[i] ?? null,
          file: file.id,
        })
    }
  }
  return [...listed.values()]
}
