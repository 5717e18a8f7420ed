import { toDayNumber } from '../calendar/dates.ts'
import { addTradingDays } from '../calendar/trading-days.ts'
import { emptyValues, setColumn } from './columns.ts'
import type { AsOfDraft } from './load-view.ts'

/** Chosen on published files of early 2021, each period predicted from those before it: docs/matrix.md has the table. */
export const estimateRule = {
  /** Share of the short volume beyond the usual that is still open. */
  kept: 0.15,
  /** Nine of ten changes over ten trading days were within these shares of the last official figure. */
  below: 0.39,
  above: 0.63,
  boundDays: 10,
  daysMin: 10,
} as const

/** A sale of this day or later settled one trading day after it, before that two. */
const oneDaySettlement = '2024-05-28'

const settles = (tradeDay: string) => addTradingDays(tradeDay, tradeDay >= oneDaySettlement ? 1 : 2)

/**
 * Short interest since the last official date, as the daily short volume implies it: what was sold short beyond the symbol's
 * usual share of its volume, of which some is still open. The bounds widen with the root of the days gone by.
 */
export async function loadEstimate(draft: AsOfDraft): Promise<void> {
  const [official] = draft.known('finra-short-interest')
  const position = draft.columns.short_interest?.values
  const files = draft.known('finra-short-volume')
  const since = files.filter(({ asOf }) => official && settles(asOf) > official.asOf)
  const before = files.filter((file) => !since.includes(file))
  if (!official || !position || since.length === 0 || before.length < estimateRule.daysMin) return
  const usual = await sums(draft, before)
  const now = await sums(draft, since)
  const [estimate, low, high] = [emptyValues(draft), emptyValues(draft), emptyValues(draft)]
  const width = Math.sqrt(since.length / estimateRule.boundDays)
  for (let i = 0; i < draft.size; i += 1) {
    const last = position[i] as number
    if (!(last > 0) || (usual.days[i] as number) < estimateRule.daysMin) continue
    const beyond =
      (now.short[i] as number) - ((usual.short[i] as number) / (usual.total[i] as number)) * (now.total[i] as number)
    // More than the whole position is no flow but a split or a fault.
    const share = Math.max(-1, Math.min(1, beyond / last))
    estimate[i] = last * (1 + estimateRule.kept * share)
    low[i] = Math.max(0, (estimate[i] as number) - last * estimateRule.below * width)
    high[i] = (estimate[i] as number) + last * estimateRule.above * width
  }
  const origin = draft.originOf(official)
  const behind = files.map((file) => draft.originOf(file))
  setColumn(draft, 'short_interest_estimate', { values: estimate, origin, behind })
  setColumn(draft, 'short_interest_low', { values: low, origin, behind })
  setColumn(draft, 'short_interest_high', { values: high, origin, behind })
}

async function sums(draft: AsOfDraft, files: ReturnType<AsOfDraft['known']>) {
  const [short, total, days] = [
    new Float64Array(draft.size),
    new Float64Array(draft.size),
    new Float64Array(draft.size),
  ]
  for (const file of files) {
    const rows = await draft.fileCache.rows(draft.sql, 'short_volume', file)
    const day = toDayNumber(file.asOf)
    const { short_volume: sold, total_volume: traded } = rows.numbers as Record<string, Float64Array>
    for (let i = 0; i < rows.count; i += 1) {
      const at = draft.dense[rows.ids[i] as number] as number
      const volume = traded?.[i] as number
      if (at < 0 || !(volume > 0)) continue
      const factor = draft.toToday(at, day)
      short[at] = (short[at] as number) + (sold?.[i] as number) * factor
      total[at] = (total[at] as number) + volume * factor
      days[at] = (days[at] as number) + 1
    }
  }
  return { short, total, days }
}
