import { toBasic } from '../calendar/dates.ts'
import { easternToUtcMs } from '../calendar/eastern-time.ts'
import { sourceOf } from '../sources/catalogue.ts'
import type { Schedule, SourceId } from '../sources/source.ts'
import { factorDays, tradingDayFiles } from '../sources/trading-day-files.ts'
import type { PriceSource } from './price-source.ts'

/** How one source is fetched: which files, how often, and what only the publisher may see. */
export type FetchPlan = Pick<Schedule, 'due' | 'files'> & {
  source: SourceId
  /** Requests to one publisher keep their distance, whichever source and process they are for. */
  publisher: string
  politeMs: number
  againMs: number
  /** The address that is asked; what is stored and shown is the one without the key. */
  keyed(url: string): string
  key: string | undefined
}

const recheckMs = 12 * 3_600_000
const vendorPoliteMs = 13_000

export function planOf(id: SourceId, prices?: PriceSource): FetchPlan {
  const { schedule, publisher, politeMs } = sourceOf(id)
  const { due, files, againMs = recheckMs } = schedule
  if (id === 'prices' && prices !== undefined) return pricePlan(prices)
  return {
    source: id,
    publisher,
    politeMs,
    againMs,
    due,
    ...(files && { files }),
    keyed: (url) => url,
    key: undefined,
  }
}

/** A day in one answer. The least plans of vendors allow five requests a minute. */
function pricePlan({ format, host, url, keyed, key }: PriceSource): FetchPlan {
  const prefix = format.id === 'csv' ? 'prices' : format.id
  return {
    source: 'prices',
    publisher: host,
    politeMs: vendorPoliteMs,
    againMs: recheckMs,
    ...tradingDayFiles(factorDays + 1, (day) => [
      {
        url: url(day),
        name: `${prefix}-${toBasic(day)}.${format.extension}`,
        period: day,
        dueAtMs: easternToUtcMs(day, 20),
      },
    ]),
    keyed,
    key,
  }
}

export const fetchPlans = (settings: { fetch: readonly SourceId[]; prices: PriceSource | undefined }): FetchPlan[] =>
  settings.fetch.map((id) => planOf(id, settings.prices))
