import { emptyValues, setColumn } from './columns.ts'
import type { AsOfDraft } from './load-view.ts'

const columns = [
  ['borrow_fee_pct', 'fee_pct'],
  ['borrow_rebate_pct', 'rebate_pct'],
  ['borrow_available', 'available'],
  ['borrow_available_capped', 'available_capped'],
] as const

/** The first file of the newest day, and the changes since. */
export async function loadBorrow(draft: AsOfDraft): Promise<void> {
  const today = [...draft.known('ibkr-borrow')].reverse()
  if (today.length === 0) return
  const values = columns.map(() => emptyValues(draft))
  const originOf = new Int16Array(draft.size).fill(-1)
  for (const file of today) {
    const rows = await draft.fileCache.rows(draft.sql, 'borrow', file)
    const origin = draft.originOf(file)
    for (let i = 0; i < rows.count; i += 1) {
      const at = draft.dense[rows.ids[i] as number] as number
      if (at < 0) continue
      originOf[at] = origin
      for (const [index, [, name]] of columns.entries())
        (values[index] as Float64Array)[at] = (rows.numbers[name] as Float64Array)[i] as number
    }
  }
  for (const [index, [name]] of columns.entries())
    setColumn(draft, name, { values: values[index] as Float64Array, origin: -1, originOf })
}
