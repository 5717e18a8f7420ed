import { toDayNumber } from '../calendar/dates.ts'
import type { FileRecord } from '../store/files.ts'
import { emptyValues, setColumn } from './columns.ts'
import type { AsOfDraft } from './load-view.ts'
import { volatilityDays } from './used-files.ts'

const vwapDays = 20
const volatilityDaysMin = 20

/** Closes against the volume-weighted price of the last 20 days, the last 5-day return, and how much it usually moves. */
export async function loadPrices(draft: AsOfDraft): Promise<void> {
  const days = await priceDays(draft)
  const newest = days[days.length - 1]
  if (!newest) return
  const [close, vsVwap, return5, volatility] = [
    emptyValues(draft),
    emptyValues(draft),
    emptyValues(draft),
    emptyValues(draft),
  ]
  for (let i = 0; i < draft.size; i += 1) {
    const last = newest.close[i] as number
    if (Number.isNaN(last)) continue
    close[i] = last
    let weighted = 0
    let volume = 0
    for (const day of days.slice(-vwapDays)) {
      const traded = day.volume[i] as number
      const typical = day.typical[i] as number
      // Without a high or a low there is a close, and nothing to weigh.
      if (!(traded > 0) || Number.isNaN(typical)) continue
      weighted += typical * traded
      volume += traded
    }
    if (volume > 0) vsVwap[i] = (last / (weighted / volume) - 1) * 100
    const before = days[days.length - 6]?.close[i] as number | undefined
    if (before !== undefined && before > 0) return5[i] = (last / before - 1) * 100
    volatility[i] = dailyVolatility(days, i)
  }
  const { origin } = newest
  const behind = [...new Set(days.map((day) => day.origin))]
  setColumn(draft, 'price_close', { values: close, origin })
  setColumn(draft, 'price_vs_vwap_pct', { values: vsVwap, origin, behind })
  setColumn(draft, 'return_5d_pct', { values: return5, origin, behind })
  setColumn(draft, 'volatility_pct', { values: volatility, origin, behind })
}

type PriceDay = { day: number; close: Float64Array; typical: Float64Array; volume: Float64Array; origin: number }

function dailyVolatility(days: readonly PriceDay[], symbol: number): number {
  let count = 0
  let sum = 0
  let squares = 0
  for (let d = Math.max(1, days.length - volatilityDays); d < days.length; d += 1) {
    const change =
      ((days[d] as PriceDay).close[symbol] as number) / ((days[d - 1] as PriceDay).close[symbol] as number) - 1
    if (!Number.isFinite(change)) continue
    count += 1
    sum += change
    squares += change * change
  }
  if (count < volatilityDaysMin) return Number.NaN
  return Math.sqrt(Math.max(0, (squares - (sum * sum) / count) / (count - 1))) * 100
}

/** A file may hold one day or many; a file with many is public when its last day is. */
async function priceDays(draft: AsOfDraft): Promise<PriceDay[]> {
  const byDay = new Map<number, PriceDay>()
  await draft.fileCache.prefetch(draft.sql, 'prices', draft.known('prices'))
  for (const file of draft.known('prices')) {
    if (byDay.size > volatilityDays) break
    const rows = await draft.fileCache.rows(draft.sql, 'prices', file)
    addFile(draft, byDay, file, rows)
  }
  return [...byDay.values()].sort((a, b) => a.day - b.day).slice(-(volatilityDays + 1))
}

function addFile(
  draft: AsOfDraft,
  byDay: Map<number, PriceDay>,
  file: FileRecord,
  rows: { count: number; ids: Int32Array; days: Int32Array; numbers: Record<string, Float64Array> },
): void {
  const oldest = toDayNumber(file.asOf) - volatilityDays * 2
  const { high, low, close, volume } = rows.numbers as Record<'high' | 'low' | 'close' | 'volume', Float64Array>
  for (let i = 0; i < rows.count; i += 1) {
    const at = draft.dense[rows.ids[i] as number] as number
    const day = rows.days[i] as number
    if (at < 0 || day < oldest) continue
    let target = byDay.get(day)
    if (!target) {
      target = {
        day,
        close: emptyValues(draft),
        typical: emptyValues(draft),
        volume: emptyValues(draft),
        origin: draft.originOf(file),
      }
      byDay.set(day, target)
    }
    const factor = draft.toToday(at, day)
    target.close[at] = (close[i] as number) / factor
    target.typical[at] = ((high[i] as number) + (low[i] as number) + (close[i] as number)) / 3 / factor
    target.volume[at] = (volume[i] as number) * factor
  }
}
