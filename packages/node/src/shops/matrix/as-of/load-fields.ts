import { toDayNumber } from '../calendar/dates.ts'
import { type FieldName, fieldNames } from '../sources/vendor-fields.ts'
import { emptyValues, setColumn } from './columns.ts'
import type { AsOfDraft } from './load-view.ts'

/** The newest day of each vendor; where two have the same field, the later day counts. */
export async function loadFields(draft: AsOfDraft): Promise<void> {
  const files = [...draft.known('vendor-fields')].sort(
    (a, b) => toDayNumber(a.asOf) - toDayNumber(b.asOf) || a.availableAtMs - b.availableAtMs,
  )
  const found = new Map<FieldName, { values: Float64Array; originOf: Int16Array }>()
  for (const file of files) {
    const rows = await draft.fileCache.rows(draft.sql, 'fields', file)
    const [origin, newest] = [draft.originOf(file), toDayNumber(file.asOf)]
    for (const name of fieldNames) {
      const figures = rows.numbers[name] as Float64Array
      for (let i = 0; i < rows.count; i += 1) {
        const at = draft.dense[rows.ids[i] as number] as number
        if (at < 0 || rows.days[i] !== newest || Number.isNaN(figures[i])) continue
        const column = found.get(name) ?? {
          values: emptyValues(draft),
          originOf: new Int16Array(draft.size).fill(-1),
        }
        found.set(name, column)
        column.values[at] = figures[i] as number
        column.originOf[at] = origin
      }
    }
  }
  for (const [name, column] of found) setColumn(draft, name, { ...column, origin: -1 })
}
