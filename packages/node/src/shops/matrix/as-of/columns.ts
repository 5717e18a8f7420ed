import type { LoadedRows } from '../store/load-rows.ts'
import type { Column, ColumnName } from './as-of-view.ts'
import type { AsOfDraft } from './load-view.ts'

export const emptyValues = (draft: AsOfDraft) => new Float64Array(draft.size).fill(Number.NaN)

/** One column of a file, spread over the view's symbols. */
export function spread(draft: AsOfDraft, rows: LoadedRows, name: string): Float64Array {
  const values = emptyValues(draft)
  const column = rows.numbers[name] as Float64Array
  for (let i = 0; i < rows.count; i += 1) {
    const at = draft.dense[rows.ids[i] as number] as number
    if (at >= 0) values[at] = column[i] as number
  }
  return values
}

/** Counts of shares of one day, in shares of now. */
export function inSharesOfNow(draft: AsOfDraft, values: Float64Array, day: number): Float64Array {
  for (let i = 0; i < values.length; i += 1) values[i] = (values[i] as number) * draft.toToday(i, day)
  return values
}

export function setColumn(draft: AsOfDraft, name: ColumnName, column: Column): void {
  draft.columns[name] = column
}
