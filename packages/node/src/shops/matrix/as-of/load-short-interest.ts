import { toDayNumber } from '../calendar/dates.ts'
import { emptyValues, inSharesOfNow, setColumn, spread } from './columns.ts'
import type { AsOfDraft } from './load-view.ts'

export async function loadShortInterest(draft: AsOfDraft): Promise<void> {
  const [newest] = draft.known('finra-short-interest')
  if (!newest) return
  const rows = await draft.fileCache.rows(draft.sql, 'short_interest', newest)
  const origin = draft.originOf(newest)
  const shares = (name: string) => inSharesOfNow(draft, spread(draft, rows, name), toDayNumber(newest.asOf))
  const position = shares('position')
  const previous = shares('previous_position')
  const split = spread(draft, rows, 'split')
  const change = emptyValues(draft)
  for (let i = 0; i < draft.size; i += 1) {
    const before = previous[i] as number
    // Across a split the two positions are counted in different shares.
    if (before > 0 && split[i] !== 1) change[i] = (((position[i] as number) - before) / before) * 100
  }
  setColumn(draft, 'short_interest', { values: position, origin })
  setColumn(draft, 'previous_short_interest', { values: previous, origin })
  setColumn(draft, 'short_interest_change_pct', { values: change, origin })
  setColumn(draft, 'average_volume', { values: shares('average_volume'), origin })
  setColumn(draft, 'days_to_cover', { values: spread(draft, rows, 'days_to_cover'), origin })
}
