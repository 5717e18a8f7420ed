import { fromDayNumber, toDayNumber } from '../calendar/dates.ts'
import { emptyValues, setColumn } from './columns.ts'
import type { AsOfDraft } from './load-view.ts'

/** Balances at the newest settlement date that is public, and their mean over its half month. No row means a balance of zero, not an unknown one. */
export async function loadFails(draft: AsOfDraft): Promise<void> {
  const [newest] = draft.known('sec-fails')
  if (!newest) return
  const rows = await draft.fileCache.rows(draft.sql, 'fails', newest)
  const day = toDayNumber(newest.asOf)
  const origin = draft.originOf(newest, fromDayNumber(day))
  const quantity = new Float64Array(draft.size)
  const mean = new Float64Array(draft.size)
  const price = emptyValues(draft)
  const days = new Set(rows.days.subarray(0, rows.count)).size
  for (let i = 0; i < rows.count; i += 1) {
    const at = draft.dense[rows.ids[i] as number] as number
    if (at < 0) continue
    const factor = draft.toToday(at, rows.days[i] as number)
    const open = ((rows.numbers.quantity as Float64Array)[i] as number) * factor
    mean[at] = (mean[at] as number) + open / days
    if (rows.days[i] !== day) continue
    // Two CUSIPs under one symbol around a corporate action: both are fails of that symbol.
    quantity[at] = (quantity[at] as number) + open
    price[at] = ((rows.numbers.price as Float64Array)[i] as number) / factor
  }
  setColumn(draft, 'fails', { values: quantity, origin })
  setColumn(draft, 'fails_mean', { values: mean, origin })
  setColumn(draft, 'fails_price', { values: price, origin })
}
