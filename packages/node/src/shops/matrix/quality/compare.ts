import { baselineNames, type Evaluation, type PredictorName } from './evaluate.ts'
import { liftAt, liftDifference, type Observation, round } from './metrics.ts'

type Days = Evaluation['days']

/** Lift by month beside the baselines, how sure the difference is, and where a baseline did better. */
export function compareWithBaselines(
  days: Days,
  main: PredictorName,
  { depth, blockDays }: { depth: number; blockDays: number },
) {
  const against = baselineNames.map((baseline) => {
    const both = pairs(days, main, baseline)
    const [ours, theirs] = [both.map(([own]) => own), both.map(([, other]) => other)]
    return {
      baseline,
      days: both.length,
      lift: liftAt(ours, depth),
      baseline_lift: liftAt(theirs, depth),
      ...liftDifference(ours, theirs, depth, blockDays),
    }
  })
  const by_month = [...new Set(days.map(({ date }) => date.slice(0, 7)))].map((month) => {
    const within = days.filter(({ date }) => date.startsWith(month))
    const liftOf = (name: PredictorName) => liftAt(daysOf(within, name), depth)
    return {
      month,
      days: within.length,
      base_rate: baseRate(daysOf(within, main).flat()),
      lift: liftOf(main),
      baselines: Object.fromEntries(baselineNames.map((name) => [name, liftOf(name)])),
    }
  })
  const loses = [
    ...against.flatMap(({ baseline, difference }) =>
      difference !== null && difference < 0 ? [{ to: baseline, in: 'the whole period' }] : [],
    ),
    ...by_month.flatMap(({ month, lift, baselines }) =>
      Object.entries(baselines).flatMap(([to, other]) =>
        lift !== null && other !== null && other > lift ? [{ to, in: month }] : [],
      ),
    ),
  ]
  return { depth, against, by_month, loses }
}

/** Days that both can rank. */
function pairs(days: Days, one: PredictorName, other: PredictorName): [Observation[], Observation[]][] {
  return days.flatMap(({ byPredictor }) => {
    const [a, b] = [byPredictor[one], byPredictor[other]]
    return a && b ? [[a, b] satisfies [Observation[], Observation[]]] : []
  })
}

const daysOf = (days: Days, name: PredictorName): Observation[][] =>
  days.flatMap(({ byPredictor }) => (byPredictor[name] ? [byPredictor[name]] : []))

const baseRate = (all: readonly Observation[]) => round(all.filter(({ hit }) => hit).length / all.length)
