import { toDayNumber } from '../calendar/dates.ts'
import type { FileRecord } from '../store/files.ts'
import { emptyValues, inSharesOfNow, setColumn } from './columns.ts'
import type { AsOfDraft } from './load-view.ts'

const columns = [
  ['holders', 'holders'],
  ['held_shares', 'shares'],
  ['held_value_usd', 'value_usd'],
] as const

/** Institutions report by CUSIP; which symbol that is, the fails files tell. The identifier itself is never shown. */
export async function loadHoldings(draft: AsOfDraft): Promise<void> {
  const [newest] = draft.known('sec-13f')
  if (!newest) return
  const maps = draft.known('sec-fails')
  const symbolOf = await symbolsByCusip(draft, maps)
  const behind = maps.map((file) => draft.originOf(file))
  const rows = await draft.fileCache.rows(draft.sql, 'holdings', newest)
  const values = columns.map(() => emptyValues(draft))
  for (let i = 0; i < rows.count; i += 1) {
    const at = symbolOf.get((draft.symbols.symbolOf(rows.ids[i] as number) ?? '').slice(6))
    if (at === undefined) continue
    for (const [index, [, name]] of columns.entries())
      (values[index] as Float64Array)[at] = (rows.numbers[name] as Float64Array)[i] as number
  }
  const origin = draft.originOf(newest)
  inSharesOfNow(draft, values[1] as Float64Array, toDayNumber(newest.asOf))
  for (const [index, [name]] of columns.entries())
    setColumn(draft, name, { values: values[index] as Float64Array, origin, behind })
}

async function symbolsByCusip(draft: AsOfDraft, files: readonly FileRecord[]): Promise<Map<string, number>> {
  const symbolOf = new Map<string, number>()
  // Oldest first, so that the newest file decides where a paper changed its symbol.
  for (const file of [...files].reverse()) {
    const rows = await draft.fileCache.rows(draft.sql, 'fails', file)
    for (let i = 0; i < rows.count; i += 1) {
      const at = draft.dense[rows.ids[i] as number] as number
      const cusip = rows.texts.cusip?.[i]
      if (at >= 0 && cusip) symbolOf.set(cusip, at)
    }
  }
  return symbolOf
}
