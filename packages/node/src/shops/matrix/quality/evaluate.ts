import type { AsOfView, ColumnName } from '../as-of/as-of-view.ts'
import { type AsOfDeps, loadAsOfView } from '../as-of/load-view.ts'
import { fromDayNumber } from '../calendar/dates.ts'
import { easternToUtcMs } from '../calendar/eastern-time.ts'
import type { FeedId } from '../feeds/feed.ts'
import { findCatalysts } from '../score/catalysts.ts'
import { computeFactors, ratio } from '../score/factors.ts'
import { currentMethod, scoreMethods, weighted } from '../score/method.ts'
import { type ScoringRules, scoreUniverse } from '../score/score-universe.ts'
import { chooseUniverse, type UniverseId } from '../score/universe.ts'
import type { Observation } from './metrics.ts'
import { type LaterPrices, loadLaterPrices, outcomeOf, refuseLookAhead } from './outcomes.ts'
import { testDefinition } from './test-definition.ts'

const others: Record<'previous_score' | 'public_weights', ScoringRules> = {
  previous_score: scoreMethods['assay-squeeze-1'],
  // Of a public open-source score.
  public_weights: {
    factors: weighted({
      short_interest_to_shares: 30,
      days_to_cover: 20,
      price_vs_vwap: 15,
      short_volume_z: 15,
      short_interest_change: 10,
      fails_to_shares: 10,
    }),
    points: 'percentile',
    unknown: 'reweighted',
    catalystsCount: false,
  },
}

export const baselineNames = ['short_interest', 'fails', 'volatility', 'previous_score', 'public_weights'] as const

/** `score`, `feed`, a baseline, or a recipe handed in. */
export type PredictorName = string

export type Evaluation = {
  days: { date: string; byPredictor: Partial<Record<PredictorName, Observation[]>> }[]
  skippedDays: number
  /** Share of the universe whose outcome is known, over all days. */
  outcomeCoverage: number | null
  synthetic: boolean
}

const feedColumn: Partial<Record<FeedId, ColumnName>> = {
  'short-volume': 'short_ratio_z',
  borrow: 'borrow_fee_pct',
  threshold: 'threshold_days',
  ftd: 'fails',
  institutional: 'held_shares',
}

export type EvaluateDeps = AsOfDeps & {
  yieldToEventLoop(): Promise<void>
  onProgress?(done: number, of: number): void
  /** Further rankings to compare beside the score. */
  recipes?: Readonly<Record<string, ScoringRules>>
}

/** Walks once through the days, predicts with what was known, and looks up what followed, for all these feeds. */
export async function evaluate(
  deps: EvaluateDeps,
  feeds: readonly { feed: FeedId; universe: UniverseId }[],
  daysMax: number,
): Promise<Map<FeedId, Evaluation>> {
  const prices = await loadLaterPrices(deps)
  const results = new Map(feeds.map(({ feed }) => [feed, emptyEvaluation()]))
  const candidates = dayIndexes(prices, daysMax)
  for (const [done, index] of candidates.entries()) {
    const date = fromDayNumber(prices.days[index] as number)
    const beforeMs = easternToUtcMs(date, 9, 30)
    const view = await loadAsOfView(deps, beforeMs - 1)
    refuseLookAhead(view, beforeMs)
    const rankings = new Map<UniverseId, Compared | undefined>()
    const outcomes = rememberOutcomes(view, prices, index - 1)
    for (const { feed, universe } of feeds) {
      // Most feeds are compared in the same universe: it is ranked once a day.
      if (!rankings.has(universe)) {
        const ranked = rank(view, universe, { ...others, ...deps.recipes })
        rankings.set(universe, ranked && { ...ranked, compared: compare(outcomes, index - 1, ranked) })
      }
      addDay(results.get(feed) as Tally, date, view, rankings.get(universe), (ranked) => {
        const values = feedValues(view, feed, ranked)
        return values && compare(outcomes, index - 1, { universe: ranked.universe, byPredictor: { feed: values } })
      })
      await deps.yieldToEventLoop()
    }
    deps.onProgress?.(done + 1, candidates.length)
  }
  return results
}

type Tally = Evaluation & { known: number; asked: number }

const emptyEvaluation = (): Tally => ({
  days: [],
  skippedDays: 0,
  outcomeCoverage: null,
  synthetic: false,
  known: 0,
  asked: 0,
})

function addDay(
  tally: Tally,
  date: string,
  view: AsOfView,
  ranked: Compared | undefined,
  compareFeed: (ranked: Predictions) => Comparison | undefined,
): void {
  if (!ranked) {
    tally.skippedDays += 1
    return
  }
  const { compared } = ranked
  tally.known += compared.known
  tally.asked += compared.asked
  tally.outcomeCoverage = tally.asked === 0 ? null : tally.known / tally.asked
  // What does not depend on the feed is shared by all of them.
  tally.days.push({ date, byPredictor: { ...compared.byPredictor, ...compareFeed(ranked)?.byPredictor } })
  tally.synthetic ||= view.origins.some(({ synthetic }) => synthetic)
}

/** Days with a whole outcome window behind them and enough of a past, evenly spread. */
function dayIndexes(prices: LaterPrices, daysMax: number): number[] {
  const first = 25
  const last = prices.days.length - testDefinition.horizon_days
  const all = Array.from({ length: Math.max(0, last - first) }, (_, offset) => first + offset)
  const step = Math.max(1, Math.ceil(all.length / daysMax))
  return all.filter((_, position) => position % step === 0)
}

/** `universe`: with a known short interest, the most shorted first. */
type Predictions = { universe: readonly number[]; byPredictor: Record<PredictorName, Float64Array> }
type Compared = Predictions & { compared: Comparison }

function rank(
  view: AsOfView,
  universe: UniverseId,
  recipes: Readonly<Record<string, ScoringRules>>,
): Predictions | undefined {
  const { columns } = view
  const { short_interest, shares_outstanding, fails, volatility_pct } = columns
  if (!short_interest || !shares_outstanding) return undefined
  const shortRatio = ratio(short_interest.values, shares_outstanding.values, 100)
  const { included } = chooseUniverse(view, universe, shortRatio)
  const catalysts = findCatalysts(view, columns, true).points
  const score = (method: ScoringRules) =>
    scoreUniverse({ method, included, factors: computeFactors(columns, method.factors), catalysts })
  const own = score(currentMethod)
  const shorted = [...own.ranking].filter((symbol) => !Number.isNaN(shortRatio[symbol] as number))
  shorted.sort((a, b) => (shortRatio[b] as number) - (shortRatio[a] as number) || a - b)
  return {
    universe: shorted.slice(0, Math.floor(shorted.length * testDefinition.universe_share)),
    byPredictor: {
      score: own.score,
      short_interest: shortRatio,
      ...(fails ? { fails: ratio(fails.values, shares_outstanding.values, 100) } : {}),
      ...(volatility_pct ? { volatility: volatility_pct.values } : {}),
      ...Object.fromEntries(Object.entries(recipes).map(([name, recipe]) => [name, score(recipe).strength])),
    },
  }
}

function feedValues(view: AsOfView, feed: FeedId, { byPredictor }: Predictions): Float64Array | undefined {
  if (feed === 'short-interest') return byPredictor['short_interest']
  const column = feedColumn[feed] && view.columns[feedColumn[feed] as ColumnName]
  return column && (feed === 'ftd' || feed === 'institutional')
    ? view.columns.shares_outstanding && ratio(column.values, view.columns.shares_outstanding.values, 100)
    : column?.values
}

type Comparison = { byPredictor: Record<PredictorName, Observation[]>; known: number; asked: number }
type Outcomes = (symbol: number) => boolean | undefined

/** What followed is the same for every feed. */
function rememberOutcomes(view: AsOfView, prices: LaterPrices, from: number): Outcomes {
  const known = new Map<number, boolean | undefined>()
  return (symbol) => {
    if (!known.has(symbol)) known.set(symbol, outcomeOf(prices, view.symbols[symbol] as string, from))
    return known.get(symbol)
  }
}

function compare(outcomes: Outcomes, from: number, { universe, byPredictor }: Predictions): Comparison {
  const observed = new Map(Object.keys(byPredictor).map((name) => [name, [] as Observation[]]))
  let known = 0
  for (const symbol of universe) {
    const hit = outcomes(symbol)
    if (hit === undefined) continue
    known += 1
    for (const [name, list] of observed) {
      const value = byPredictor[name]?.[symbol] as number
      // A ranking that does not know a symbol puts it last.
      list.push({ day: from, prediction: Number.isNaN(value) ? Number.NEGATIVE_INFINITY : value, hit })
    }
  }
  return { byPredictor: Object.fromEntries(observed), known, asked: universe.length }
}
