import type { AsOfDeps } from '../as-of/load-view.ts'
import type { FeedId } from '../feeds/feed.ts'
import { scoreMeaning } from '../score/method.ts'
import type { UniverseId } from '../score/universe.ts'
import { compareWithBaselines } from './compare.ts'
import { baselineNames, type Evaluation, evaluate, type PredictorName } from './evaluate.ts'
import { brier, calibration, liftInterval, measure, type Observation, round } from './metrics.ts'
import { testDefinition } from './test-definition.ts'

const universeOf = (feed: FeedId): UniverseId =>
  feed === 'etf' ? 'funds' : feed === 'equities' ? 'listed_shares' : 'shares'
const composites: readonly FeedId[] = ['squeeze', 'equities', 'etf']

export type QualityOptions = {
  daysMax: number
  yieldToEventLoop(): Promise<void>
  onProgress?(done: number, of: number): void
}

/** How well each feed predicted what followed, on the data this node holds. */
export async function qualityOf(
  deps: AsOfDeps,
  feeds: readonly FeedId[],
  options: QualityOptions,
): Promise<Map<FeedId, Record<string, unknown>>> {
  const measured = feeds.filter((feed) => feed !== 'halts')
  const found = await evaluate(
    { ...deps, ...options },
    measured.map((feed) => ({ feed, universe: universeOf(feed) })),
    options.daysMax,
  )
  const documents = new Map<FeedId, Record<string, unknown>>()
  for (const feed of feeds) {
    documents.set(feed, describe(feed, found.get(feed)))
    await options.yieldToEventLoop()
  }
  return documents
}

function describe(feed: FeedId, found: Evaluation | undefined): Record<string, unknown> {
  const composite = composites.includes(feed)
  if (!found) return notMeasured(feed, 'a halt is an event and makes no prediction')
  if (found.days.length === 0) return notMeasured(feed, 'no prices, or too few days, are held to evaluate it')
  const main: PredictorName = composite ? 'score' : 'feed'
  const daysOf = (name: PredictorName): Observation[][] =>
    found.days.flatMap((day) => (day.byPredictor[name] ? [day.byPredictor[name]] : []))
  const mainDays = daysOf(main)
  if (mainDays.length === 0) return notMeasured(feed, 'its ranking value is held for none of the days')
  const step = found.days.length > 1 ? dayStep(found.days.map(({ date }) => date)) : 1
  const depth = testDefinition.depths[1]
  const blockDays = Math.max(1, Math.ceil(testDefinition.horizon_days / step))
  const all = mainDays.flat().filter(({ prediction }) => Number.isFinite(prediction))
  return {
    feed,
    status: 'measured',
    test: testDefinition,
    period: {
      from: found.days[0]?.date,
      to: found.days.at(-1)?.date,
      days: found.days.length,
      skipped_days: found.skippedDays,
    },
    synthetic: found.synthetic,
    predictor: composite ? 'score' : 'ranking value of the feed',
    result: {
      ...measure(mainDays, testDefinition.depths),
      lift_interval: {
        depth,
        ...liftInterval(mainDays, depth, blockDays),
      },
      ...(composite ? { brier: brier(all), calibration: calibration(all) } : {}),
    },
    baselines: Object.fromEntries(baselineNames.map((name) => [name, measure(daysOf(name), testDefinition.depths)])),
    ...compareWithBaselines(found.days, main, { depth, blockDays }),
    coverage: { outcome_known_pct: found.outcomeCoverage === null ? null : round(found.outcomeCoverage * 100, 2) },
    caveats: caveats(found.synthetic),
  }
}

/** Trading days between two days measured. */
function dayStep(dates: readonly string[]): number {
  const [first = '', second = ''] = dates
  return Math.max(1, Math.round(((Date.parse(second) - Date.parse(first)) / 86_400_000) * (5 / 7)))
}

function caveats(synthetic: boolean): string[] {
  return [
    scoreMeaning,
    'A score of 90 is not a chance of 90 %; the calibration table says how often a squeeze followed.',
    'Outcomes are measured only where prices are held; symbols without them, such as those delisted since, are missing from the figures.',
    'Factors were chosen on the months 2020-12 to 2021-04 of US stocks; months after them are the test. The borrow fee counts by prior belief.',
    ...(synthetic
      ? [
          'These are synthetic data with planted squeezes: the figures show that the machinery works, and nothing about real markets.',
        ]
      : []),
  ]
}

function notMeasured(feed: FeedId, why: string): Record<string, unknown> {
  return { feed, status: 'not_measured', why, test: testDefinition, synthetic: false, caveats: caveats(false) }
}
