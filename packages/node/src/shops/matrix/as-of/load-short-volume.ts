import { toDayNumber } from '../calendar/dates.ts'
import { emptyValues, setColumn, spread } from './columns.ts'
import type { AsOfDraft } from './load-view.ts'

const ratioDaysMin = 10

/** The newest day, and how far its short share is from the symbol's own last 60 days. The level alone means little. */
export async function loadShortVolume(draft: AsOfDraft): Promise<void> {
  const files = draft.known('finra-short-volume')
  const [newest] = files
  if (!newest) return
  const used = [...files].reverse()
  await draft.fileCache.prefetch(draft.sql, 'short_volume', used)
  for (const file of used) {
    const rows = await draft.fileCache.rows(draft.sql, 'short_volume', file)
    const ratios = emptyValues(draft)
    const short = rows.numbers.short_volume as Float64Array
    const total = rows.numbers.total_volume as Float64Array
    for (let i = 0; i < rows.count; i += 1) {
      const at = draft.dense[rows.ids[i] as number] as number
      if (at >= 0 && (total[i] as number) > 0) ratios[at] = (short[i] as number) / (total[i] as number)
    }
    draft.ratioDays.push({ day: toDayNumber(file.asOf), ratios })
  }
  const origin = draft.originOf(newest)
  const rows = await draft.fileCache.rows(draft.sql, 'short_volume', newest)
  for (const name of ['short_volume', 'exempt_volume', 'total_volume'] as const)
    setColumn(draft, name, { values: spread(draft, rows, name), origin })
  const { mean, sd, z, last } = zScores(draft)
  const behind = used.map((file) => draft.originOf(file))
  setColumn(draft, 'short_ratio', { values: last, origin, behind })
  setColumn(draft, 'short_ratio_mean', { values: mean, origin, behind })
  setColumn(draft, 'short_ratio_sd', { values: sd, origin, behind })
  setColumn(draft, 'short_ratio_z', { values: z, origin, behind })
}

function zScores(draft: AsOfDraft) {
  const days = draft.ratioDays
  const last = (days[days.length - 1] as { ratios: Float64Array }).ratios
  const [mean, sd, z] = [emptyValues(draft), emptyValues(draft), emptyValues(draft)]
  for (let i = 0; i < draft.size; i += 1) {
    let count = 0
    let sum = 0
    let squares = 0
    // The newest day is compared with the ones before it, so it is no part of them.
    for (let d = 0; d < days.length - 1; d += 1) {
      const ratio = (days[d] as { ratios: Float64Array }).ratios[i] as number
      if (Number.isNaN(ratio)) continue
      count += 1
      sum += ratio
      squares += ratio * ratio
    }
    if (count < ratioDaysMin) continue
    const average = sum / count
    const deviation = Math.sqrt(Math.max(0, (squares - count * average * average) / (count - 1)))
    mean[i] = average
    sd[i] = deviation
    if (deviation > 1e-6) z[i] = ((last[i] as number) - average) / deviation
  }
  return { mean, sd, z, last }
}
