import { toRfc3339 } from '@assay/till/kernel/clock'
import type { AsOfView, Column, Origin } from '../as-of/as-of-view.ts'
import { fromDayNumber, toDayNumber } from '../calendar/dates.ts'
import { easternToUtcMs } from '../calendar/eastern-time.ts'
import type { LicencePolicy } from '../licences/licence-policy.ts'

/** The tail of a value's JSON: `,"source":…,"as_of":…,"available_at":…,"licence":…}`. The same for thousands of rows, so kept. */
export type Provenance = {
  /** Results are cached by the array of columns: callers create that array once, not for each row. */
  tail(columns: readonly Column[], symbol: number): string
  tailOfOrigin(origin: number): string
  /** Origins named so far. */
  used(): readonly number[]
  use(origins: readonly number[]): void
  /** The oldest date behind any value named so far. */
  oldestDay(): number | undefined
}

export function createProvenance(view: AsOfView, licences: LicencePolicy): Provenance {
  const texts = new Map<string, string>()
  const groups = new WeakMap<readonly Column[], Group>()
  const used = new Set<number>()
  let oldest: number | undefined
  const originIn = (column: Column, symbol: number) => column.originOf?.[symbol] ?? column.origin
  const describe = (parts: readonly { origin: number; day: number; availableDay: number }[]): string => {
    const origins = parts.map(({ origin }) => view.origins[origin] as Origin)
    for (const { origin } of parts) used.add(origin)
    const days = parts.map(({ day }, index) => day || toDayNumber((origins[index] as Origin).asOf))
    const available = parts.map(({ availableDay }, index) =>
      availableDay ? easternToUtcMs(fromDayNumber(availableDay), 22) : (origins[index] as Origin).availableAtMs,
    )
    const day = Math.min(...days)
    if (oldest === undefined || day < oldest) oldest = day
    const names = [...new Set(origins.map(({ source }) => source))]
    const licenceIds = [...new Set(origins.map((origin) => licences.licenceOf(origin).id))]
    // A derived value is as old as its oldest part and as new to the public as its newest.
    return `,"source":${JSON.stringify(names.join('+'))},"as_of":"${fromDayNumber(day)}","available_at":"${toRfc3339(Math.max(...available))}","licence":${JSON.stringify(licenceIds.join('+'))}}`
  }
  return {
    oldestDay: () => oldest,
    use: (origins) => {
      for (const origin of origins) if (origin >= 0) used.add(origin)
    },
    used: () => [...used].sort((a, b) => a - b),
    tailOfOrigin: (origin) => {
      const key = `o${origin}`
      const found = texts.get(key) ?? describe([{ origin, day: 0, availableDay: 0 }])
      texts.set(key, found)
      return found
    },
    tail: (columns, symbol) => {
      let group = groups.get(columns)
      if (!group) {
        group = { varying: columns.filter(varies), texts: new Map() }
        groups.set(columns, group)
      }
      let key = ''
      for (const column of group.varying)
        key += `${originIn(column, symbol)},${column.dayOf?.[symbol] ?? 0},${column.availableDayOf?.[symbol] ?? 0};`
      const found = group.texts.get(key)
      if (found !== undefined) return found
      for (const { behind } of columns) for (const origin of behind ?? []) if (origin >= 0) used.add(origin)
      const text = describe(
        columns.map((column) => ({
          origin: originIn(column, symbol),
          day: column.dayOf?.[symbol] ?? 0,
          availableDay: column.availableDayOf?.[symbol] ?? 0,
        })),
      )
      group.texts.set(key, text)
      return text
    },
  }
}

/** What is said of the same columns differs from row to row only by those whose origin or dates do. */
type Group = { varying: readonly Column[]; texts: Map<string, string> }

const varies = ({ originOf, dayOf, availableDayOf }: Column) =>
  originOf !== undefined || dayOf !== undefined || availableDayOf !== undefined

/** A number as JSON, rounded to what the data can bear; unknown is null. */
export function numberText(value: number, decimals = 4): string {
  if (Number.isInteger(value)) return value === 0 ? '0' : String(value)
  if (Number.isNaN(value)) return 'null'
  const scale = 10 ** decimals
  const rounded = Math.round(value * scale) / scale
  return String(Object.is(rounded, -0) ? 0 : rounded)
}
