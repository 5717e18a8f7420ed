import { type Clock, toRfc3339 } from '@assay/till/kernel/clock'
import type { FileCache } from '../as-of/file-cache.ts'
import type { IsoDate } from '../calendar/dates.ts'
import { easternDate } from '../calendar/eastern-time.ts'
import { addTradingDays, tradingDaysUpTo } from '../calendar/trading-days.ts'
import type { LicencePolicy } from '../licences/licence-policy.ts'
import { sourceState } from '../snapshots/staleness.ts'
import { sources } from '../sources/catalogue.ts'
import type { Source, SourceId } from '../sources/source.ts'
import { factorDays } from '../sources/trading-day-files.ts'
import type { FetchPlan } from './fetch-plan.ts'
import type { LastFetch } from './fetch-state.ts'

export type CoverageDeps = {
  fileCache: FileCache
  licences: LicencePolicy
  plans: readonly FetchPlan[]
  clock: Pick<Clock, 'nowMs'>
}

/** What is held of a source against what the feeds want of it. */
export type SourceCoverage = {
  source: SourceId
  title: string
  publisher: string
  licence: string
  may_be_shown: boolean
  may_be_sold: boolean
  /** The node fetches it by itself. */
  fetched: boolean
  first: IsoDate | null
  last: IsoDate | null
  available_at: string | null
  age_seconds: number | null
  /** Days, or other periods, that are wanted, and those that are held of them. */
  wanted: number
  present: number
  /** The newest of those not held. */
  missing: string[]
  stale: boolean
  /** How the last check of the publisher went. */
  last_check: { at: string; status: string } | null
  /** What the operator has to set or do; null where nothing is missing. */
  fix: string | null
}

const missingShown = 10

export function coverageOf(deps: CoverageDeps, looks: ReadonlyMap<SourceId, LastFetch> = new Map()): SourceCoverage[] {
  const nowMs = deps.clock.nowMs()
  // Nobody has to list splits.
  const wanted = sources.filter(({ id }) => id !== 'actions' || deps.fileCache.known(id, nowMs).length > 0)
  return wanted.map((source) => describe(deps, source, looks.get(source.id)))
}

function describe(deps: CoverageDeps, source: Source, lastFetch: LastFetch | undefined): SourceCoverage {
  const { fileCache, licences } = deps
  const nowMs = deps.clock.nowMs()
  const { id, title, publisher, licence } = source
  const files = fileCache.known(id, nowMs)
  const { newest, stale } = sourceState(fileCache, id, nowMs)
  const synthetic = newest?.synthetic ?? false
  const plan = deps.plans.find((one) => one.source === id)
  const isStale = stale && !foundNothingNewer(source, newest !== undefined, lastFetch, nowMs)
  const periods = wantedPeriods(source, plan, nowMs)
  const holds = holder(files.map(({ period }) => period))
  const missing = periods.length === 0 ? [] : periods.filter((period) => !holds(period))
  const days = files.map(({ asOf }) => asOf).sort()
  const found: SourceCoverage = {
    source: id,
    title,
    publisher,
    licence: synthetic ? 'synthetic' : licence.id,
    may_be_shown: licences.may(id, synthetic, 'free'),
    may_be_sold: licences.may(id, synthetic, 'paid'),
    fetched: plan !== undefined,
    first: days[0] ?? null,
    last: days.at(-1) ?? null,
    available_at: newest ? toRfc3339(newest.availableAtMs) : null,
    age_seconds: newest ? Math.max(0, Math.floor((nowMs - newest.availableAtMs) / 1000)) : null,
    wanted: Math.max(1, periods.length),
    present: periods.length === 0 ? Number(!isStale) : periods.length - missing.length,
    missing: missing.slice(0, missingShown),
    stale: isStale,
    last_check: lastFetch ? { at: toRfc3339(lastFetch.checkedAtMs), status: lastFetch.status } : null,
    fix: null,
  }
  const licensed = licence.commercial === 'yes' || licences.assertions.some((one) => one.source === id)
  return { ...found, fix: fixOf(found, missing, licensed) }
}

/** A publisher that has nothing newer says so; that is no reason to call what it gave before late. */
function foundNothingNewer(source: Source, held: boolean, lastFetch: LastFetch | undefined, nowMs: number): boolean {
  if (!held || lastFetch === undefined || source.schedule.files !== undefined) return false
  return ['200', '304'].includes(lastFetch.status) && lastFetch.checkedAtMs > nowMs - source.schedule.graceMs
}

/** For a publisher with an archive each period once, newest first. The operator's own files: every trading day. */
function wantedPeriods(source: Source, plan: FetchPlan | undefined, nowMs: number): string[] {
  if (source.id === 'prices' && plan === undefined) {
    const yesterday = addTradingDays(easternDate(nowMs), -1)
    return tradingDaysUpTo(yesterday, factorDays + 1).reverse()
  }
  const schedule = plan ?? source.schedule
  if (schedule.files === undefined) return []
  return [...new Set(schedule.due(nowMs).map(({ period }) => period))]
}

/** A period is a day, a half of a month, a quarter, or all days from one to another (`2026-01-02..2026-02-27`). */
function holder(periods: readonly string[]): (wanted: string) => boolean {
  const single = new Set(periods)
  const ranges = periods.filter((period) => period.includes('..')).map((period) => period.split('..'))
  return (wanted) => single.has(wanted) || ranges.some(([from = '', to = '']) => wanted >= from && wanted <= to)
}

/** What the operator has from a vendor, and the setting that names it. */
const vendorSettings: Partial<Record<SourceId, string>> = { prices: 'PRICE_SOURCE', 'vendor-fields': 'FIELDS_SOURCE' }

function fixOf(found: SourceCoverage, missing: readonly string[], licensed: boolean): string | null {
  const { source, fetched, last, may_be_shown } = found
  if (found.licence === 'synthetic') return null
  const line = `add a line for ${source} to LICENCES`
  const setting = vendorSettings[source]
  const toFetch = [
    ...(setting === undefined ? [] : [`set ${setting}`]),
    ...(licensed ? [] : [line]),
    // By default what is licensed is fetched.
    ...(licensed && setting === undefined ? [`name ${source} in \`fetch\` of MATRIX`] : []),
  ].join(' and ')
  if (last !== null && !may_be_shown) return `${line}: what is held may not be shown without one`
  if (last === null && !fetched)
    return setting === undefined && !licensed
      ? `${line}: it is not fetched without one`
      : `${toFetch}, or bring files with \`assay ingest\``
  if (last === null) return 'nothing has come yet; the next fetch is within minutes'
  if (missing.length > 0 && fetched)
    return `${missing.length} of ${found.wanted} are missing, the newest ${missing[0]}; \`assay ingest backfill\` asks for them now`
  return missing.length > 0 || found.stale ? `bring newer files with \`assay ingest\`, or ${toFetch}` : null
}
