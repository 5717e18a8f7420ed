import type { AsOfView, Column, ColumnName, Origin } from '../as-of/as-of-view.ts'
import type { LicencePolicy, Variant } from '../licences/licence-policy.ts'
import type { SourceId } from '../sources/source.ts'

export type LeftOut = { source: SourceId; reason: string }

/** The columns that may be shown or sold, and the sources that had to stay out. */
export function allowedColumns(
  view: AsOfView,
  licences: LicencePolicy,
  variant: Variant,
): { columns: AsOfView['columns']; leftOut: LeftOut[]; mayUse(origin: number): boolean } {
  const allowed = view.origins.map((origin) => licences.may(origin.source, origin.synthetic, variant))
  const mayUse = (origin: number) => origin < 0 || allowed[origin] === true
  const columns: AsOfView['columns'] = {}
  for (const [name, column] of Object.entries(view.columns) as [ColumnName, Column][])
    if (mayUse(column.origin) && everyOrigin(column, mayUse)) columns[name] = column
  const refused = new Set(view.origins.filter((_, index) => !allowed[index]).map((origin: Origin) => origin.source))
  return {
    columns,
    mayUse,
    leftOut: [...refused].sort().map((source) => ({ source, reason: licences.reason(source) })),
  }
}

function everyOrigin(column: Column, mayUse: (origin: number) => boolean): boolean {
  if (column.behind !== undefined && !column.behind.every(mayUse)) return false
  return column.originOf === undefined || column.originOf.every(mayUse)
}
