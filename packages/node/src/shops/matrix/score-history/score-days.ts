import type { TillJob } from '@assay/till/compose'
import { addDays, type IsoDate } from '../calendar/dates.ts'
import { easternDate, easternToUtcMs } from '../calendar/eastern-time.ts'
import { tradingDaysUpTo } from '../calendar/trading-days.ts'
import { feeds } from '../feeds/catalogue.ts'
import type { FeedId } from '../feeds/feed.ts'
import type { MatrixDeps } from '../matrix-deps.ts'
import { currentMethod } from '../score/method.ts'
import { columnValues, queryColumns } from '../snapshots/columns-of.ts'
import { type AsOfViews, isSnapshot } from '../snapshots/make-snapshot.ts'
import type { Snapshot } from '../snapshots/snapshot.ts'
import { snapshotInputs } from '../snapshots/snapshot-inputs.ts'
import { figureNames, keepScoredDay, keptScoredDays } from './score-store.ts'

const scoredFeeds: readonly FeedId[] = ['squeeze', 'equities', 'etf']

/** Five years. */
export const scoredDaysMax = 1_260
const daysAtOnce = 10

export type ScoreDaysDeps = Pick<
  MatrixDeps,
  'database' | 'clock' | 'fileCache' | 'licences' | 'snapshotCache' | 'stopping'
>

/** Keeps the ranking of every trading day as it was known before its open, newest first; what is held costs one read. */
export function scoreDaysJob(deps: ScoreDaysDeps, options: { days: number; paused(): boolean }): TillJob {
  let finished: string | undefined
  return {
    name: 'matrix.scores',
    intervalMs: 30_000,
    work: async () => {
      if (options.paused()) return
      await deps.fileCache.refresh(deps.database)
      // Without a new file or a new day every ranking would be the same again.
      const basis = `${deps.fileCache.all().length} ${lastScoredDay(deps.clock.nowMs())}`
      if (basis === finished) return
      const made = await scoreDays(deps, options.days)
      finished = made === 0 && !deps.stopping.aborted ? basis : undefined
    },
  }
}

/** How many rankings were made. */
export async function scoreDays(deps: ScoreDaysDeps, daysMax: number, atOnce = daysAtOnce): Promise<number> {
  await deps.fileCache.refresh(deps.database)
  const days = tradingDaysUpTo(easternDate(deps.clock.nowMs()), daysMax).reverse()
  const kept = await keptScoredDays(deps.database, days.at(-1) as IsoDate)
  const firstKnownMs = deps.fileCache.all().reduce((first, file) => Math.min(first, file.availableAtMs), Infinity)
  let made = 0
  for (const day of days) {
    const knownByMs = easternToUtcMs(day, 9, 30) - 1
    if (knownByMs > deps.clock.nowMs()) continue
    // Before the first file there is nothing to rank.
    if (knownByMs < firstKnownMs) break
    if (made >= atOnce * scoredFeeds.length || deps.stopping.aborted) break
    const views: AsOfViews = new Map()
    for (const feed of scoredFeeds) {
      const inputs = snapshotInputs(deps.fileCache, deps.licences, feeds[feed], 'paid', knownByMs)
      if ('status' in inputs || kept.get(`${feed} ${day}`) === inputs.key) continue
      const snapshot = await deps.snapshotCache.once(feed, inputs, views)
      if (!isSnapshot(snapshot)) continue
      await keepScoredDay(deps.database, { feed, day, key: inputs.key, ...figuresOf(snapshot) })
      made += 1
      await deps.clock.sleep(20)
    }
  }
  return made
}

function figuresOf(snapshot: Snapshot) {
  const method = currentMethod.name
  const known = new Map(queryColumns(snapshot).map((column) => [column.name, column]))
  const columns = figureNames(method).map((name) => {
    const column = known.get(`factors.${name}`) ?? known.get(name)
    const values = column && columnValues(snapshot, column)
    return values?.kind === 'number' ? values.values : undefined
  })
  const symbols = [...snapshot.rowsOf.keys()]
  const figures = new Float32Array(symbols.length * columns.length)
  for (const [place, symbol] of symbols.entries()) {
    const row = snapshot.rowsOf.get(symbol)?.[0] as number
    for (const [index, values] of columns.entries())
      figures[place * columns.length + index] = values?.[row] ?? Number.NaN
  }
  return { method, symbols, figures }
}

/** The last day whose open had not come yet at this moment is not known then. */
export function lastScoredDay(knownAtMs: number): IsoDate {
  const today = easternDate(knownAtMs)
  return knownAtMs >= easternToUtcMs(today, 9, 30) - 1 ? today : addDays(today, -1)
}
