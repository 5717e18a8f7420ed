import { type IsoDate, toBasic } from '../calendar/dates.ts'
import { easternToUtcMs } from '../calendar/eastern-time.ts'
import { sourceOf } from '../sources/catalogue.ts'
import type { Schedule, SourceId } from '../sources/source.ts'
import { factorDays, tradingDayFiles } from '../sources/trading-day-files.ts'
import { fieldsPublicMs } from '../sources/vendor-fields.ts'
import type { VendorSource } from './vendor-source.ts'

/** How one source is fetched: which files, how often, and what only the publisher may see. */
export type FetchPlan = Pick<Schedule, 'due' | 'files'> & {
  source: SourceId
  /** Requests to one publisher keep their distance, whichever source and process they are for. */
  publisher: string
  minRequestIntervalMs: number
  refetchMs: number
  /** The address that is asked; what is stored and shown is the one without the key. */
  keyed(url: string): string
  key: string | undefined
}

const recheckMs = 12 * 3_600_000
const vendorPoliteMs = 13_000

/** Where the operator has prices and fields from. */
export type Vendors = { prices?: VendorSource | undefined; fields?: VendorSource | undefined }

export function planOf(id: SourceId, { prices, fields }: Vendors = {}): FetchPlan {
  const { schedule, publisher, minRequestIntervalMs } = sourceOf(id)
  const { due, files, refetchMs = recheckMs } = schedule
  if (id === 'prices' && prices !== undefined) {
    const prefix = prices.format.id === 'csv' ? 'prices' : prices.format.id
    return vendorPlan(id, prices, prefix, (day) => easternToUtcMs(day, 20))
  }
  if (id === 'vendor-fields' && fields !== undefined) return vendorPlan(id, fields, 'fields', fieldsPublicMs)
  return {
    source: id,
    publisher,
    minRequestIntervalMs,
    refetchMs,
    due,
    ...(files && { files }),
    keyed: (url) => url,
    key: undefined,
  }
}

/** A day in one answer. The least plans of vendors allow five requests a minute. */
function vendorPlan(
  source: SourceId,
  { format, host, url, keyed, key }: VendorSource,
  prefix: string,
  dueAtMs: (day: IsoDate) => number,
): FetchPlan {
  return {
    source,
    publisher: host,
    minRequestIntervalMs: vendorPoliteMs,
    refetchMs: recheckMs,
    ...tradingDayFiles(factorDays + 1, (day) => [
      {
        url: url(day),
        name: `${prefix}-${toBasic(day)}.${format.extension}`,
        period: day,
        dueAtMs: dueAtMs(day),
      },
    ]),
    keyed,
    key,
  }
}

export const fetchPlans = (settings: Vendors & { fetch: readonly SourceId[] }): FetchPlan[] =>
  settings.fetch.map((id) => planOf(id, settings))
