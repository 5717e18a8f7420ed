import { median } from '../percentiles.ts'
import { type Measured, ratioOf } from '../rounds.ts'

/** What decides whether a figure is reached. */
export type Basis = 'cpu' | 'throughput' | 'time'

/** Measured beside a peer: how many times, or what share of, its speed ours is. */
export type Figure = {
  name: string
  peer: string
  /** Null: shown beside a required one so that it is not read for more than it says. */
  required: number | null
  ratio: number
  /** Half of the rounds are between these. */
  spread: readonly number[]
  basis: Basis
  /** The same ratio by the other basis, for comparison. */
  otherRatio?: number
  otherBasis?: Basis
  ours: string
  theirs: string
}

export const isReached = ({ ratio, required }: Figure): boolean => required === null || ratio >= required

export type LoadFigure = { name: string; peer: string; required: number | null; basis: 'cpu' | 'throughput' }

/** The rounds of two sides that are beside each other in one figure. */
export type Comparison = { figure: LoadFigure; ours: readonly Measured[]; theirs: readonly Measured[] }

/** How fast a process runs differs from one start to the next, so the rounds of several starts make one figure. */
export function pooled(starts: readonly (readonly Comparison[])[]): Figure[] {
  const [first = []] = starts
  return first.map(({ figure }, index) => {
    const same = starts.flatMap((comparisons) => comparisons[index] ?? [])
    return figureOf(
      figure,
      same.flatMap(({ ours }) => ours),
      same.flatMap(({ theirs }) => theirs),
    )
  })
}

function figureOf(given: LoadFigure, ours: readonly Measured[], theirs: readonly Measured[]): Figure {
  const rate = (rounds: readonly Measured[]) => rounds.map((round) => round.perSecond)
  const cpu = (rounds: readonly Measured[]) => rounds.map((round) => round.cpuMicrosPerRequest)
  const byThroughput = ratioOf(rate(ours), rate(theirs))
  const byCpu = ratioOf(cpu(theirs), cpu(ours))
  const [deciding, other] = given.basis === 'cpu' ? [byCpu, byThroughput] : [byThroughput, byCpu]
  const words = (rounds: readonly Measured[]) =>
    `${Math.round(median(rate(rounds)))}/s, ${Math.round(median(cpu(rounds)))} µs`
  return {
    ...given,
    ratio: deciding.median,
    spread: deciding.spread,
    otherRatio: other.median,
    otherBasis: given.basis === 'cpu' ? 'throughput' : 'cpu',
    ours: words(ours),
    theirs: words(theirs),
  }
}
