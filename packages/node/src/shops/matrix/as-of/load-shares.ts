import { toDayNumber } from '../calendar/dates.ts'
import { easternDate } from '../calendar/eastern-time.ts'
import type { ColumnName } from './as-of-view.ts'
import { emptyValues, setColumn } from './columns.ts'
import type { AsOfDraft } from './load-view.ts'

type Found = { value: number; day: number; filedDay: number; origin: number }
type Owners = ReadonlyMap<number, ReadonlySet<number>>

/** What cover pages say of companies, brought to symbols. A company with several classes is left out: the sum fits none of them. */
export async function loadShares(draft: AsOfDraft): Promise<void> {
  const [tickers] = draft.known('sec-tickers')
  if (!tickers) return
  const rows = await draft.fileCache.rows(draft.sql, 'tickers', tickers)
  draft.companyNameOrigin = draft.originOf(tickers)
  const owners = new Map<number, Set<number>>()
  for (let i = 0; i < rows.count; i += 1) {
    const at = draft.dense[rows.ids[i] as number] as number
    if (at >= 0) draft.companyNames[at] = rows.texts.name?.[i] ?? null
    const kind = at < 0 ? 'test' : (draft.kinds[at] ?? 'share')
    if (kind !== 'share' && kind !== 'adr') continue
    const cik = (rows.numbers.cik as Float64Array)[i] as number
    owners.set(cik, (owners.get(cik) ?? new Set()).add(at))
  }
  await setCompanyColumn(draft, owners, 'shares_outstanding', 'shares', (at, day) => draft.toToday(at, day))
  await setCompanyColumn(draft, owners, 'public_float_usd', 'float_usd', () => 1)
}

async function setCompanyColumn(
  draft: AsOfDraft,
  owners: Owners,
  name: ColumnName,
  column: 'shares' | 'float_usd',
  scaleOf: (symbol: number, day: number) => number,
): Promise<void> {
  const byCompany = await newestByCompany(draft, column)
  if (byCompany.size === 0) return
  const values = emptyValues(draft)
  const originOf = new Int16Array(draft.size).fill(-1)
  const dayOf = new Int32Array(draft.size)
  const availableDayOf = new Int32Array(draft.size)
  for (const [cik, symbols] of owners) {
    const found = byCompany.get(cik)
    const [at] = symbols
    if (!found || symbols.size !== 1 || at === undefined || !(found.value > 0)) continue
    values[at] = found.value * scaleOf(at, found.day)
    originOf[at] = found.origin
    dayOf[at] = found.day
    availableDayOf[at] = Number.isNaN(found.filedDay) ? 0 : found.filedDay
  }
  setColumn(draft, name, { values, origin: -1, originOf, dayOf, availableDayOf, behind: [draft.companyNameOrigin] })
}

async function newestByCompany(draft: AsOfDraft, column: 'shares' | 'float_usd'): Promise<Map<number, Found>> {
  const today = toDayNumber(easternDate(draft.knownAtMs))
  const newest = new Map<number, Found>()
  for (const file of draft.known('sec-shares')) {
    const rows = await draft.fileCache.rows(draft.sql, 'shares', file)
    const values = rows.numbers[column] as Float64Array
    for (let i = 0; i < rows.count; i += 1) {
      const filedDay = (rows.numbers.filed_day as Float64Array)[i] as number
      // A file with a company's whole history also holds what was filed after the moment in question.
      if (filedDay >= today || Number.isNaN(values[i])) continue
      const cik = Number((draft.symbols.symbolOf(rows.ids[i] as number) ?? '').slice(4))
      const day = rows.days[i] as number
      const other = newest.get(cik)
      if (!other || day > other.day || (day === other.day && filedDay > other.filedDay))
        newest.set(cik, { value: values[i] as number, day, filedDay, origin: draft.originOf(file) })
    }
  }
  return newest
}
