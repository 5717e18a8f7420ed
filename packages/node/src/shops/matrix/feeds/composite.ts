import type { AsOfView, ColumnName } from '../as-of/as-of-view.ts'
import { findCatalysts } from '../score/catalysts.ts'
import { computeFactors, factorColumns } from '../score/factors.ts'
import {
  currentMethod,
  isScoreMethod,
  type ScoreMethod,
  scoreMeaning,
  scoreMethods,
  shownFactors,
} from '../score/method.ts'
import { type Factor, scoreUniverse } from '../score/score-universe.ts'
import { chooseUniverse, type UniverseId } from '../score/universe.ts'
import { compositeRows } from './composite-rows.ts'
import type { BuildInput, RowPlan } from './row-plan.ts'

const universes: Record<string, UniverseId> = { squeeze: 'shares', equities: 'listed_shares', etf: 'funds' }

/** The composite ranking: score, what it is made of, and why others are not in it. */
export function planComposite(input: BuildInput): RowPlan {
  const { columns } = input
  const view = withKinds(input)
  const method = methodOf(input)
  const factors = computeFactors(columns, method.factors)
  const shown = computeFactors(columns, shownFactors)
  const ratios = factors.find(({ rule }) => rule.name === 'short_interest_to_shares')?.values
  const { included, excluded } = chooseUniverse(view, universes[input.feed.id] ?? 'shares', ratios, presentIn(input))
  const haltsAllowed = view.halts.every((halt) => input.mayUse(halt.origin))
  const catalysts = findCatalysts(view, columns, haltsAllowed)
  const scored = scoreUniverse({ method, included, factors, catalysts: catalysts.points })
  const ranked = new Uint8Array(included.length)
  for (const symbol of scored.ranking) ranked[symbol] = 1
  const reasons = new Map<number, string>(excluded)
  let taking = 0
  for (let i = 0; i < included.length; i += 1) {
    if (included[i] !== 1) continue
    taking += 1
    if (ranked[i] !== 1) reasons.set(i, 'too_little_known')
  }
  const { live, vip } = compositeRows(input, { method, factors, shown, scored, catalysts })
  return {
    count: scored.ranking.length,
    symbolOf: (row) => scored.ranking[row] as number,
    valueOf: (row) => scored.score[scored.ranking[row] as number] as number,
    live,
    vip,
    excluded: reasons,
    coveragePct: taking === 0 ? 0 : (scored.ranking.length / taking) * 100,
    notes: {
      meaning: scoreMeaning,
      score_method: method.name,
      factors_used: factors.map(({ rule }) => ({ name: rule.name, weight: rule.weight })),
      factors_left_out: leftOutFactors(input, method, factors),
    },
  }
}

const methodOf = ({ feed }: BuildInput): ScoreMethod =>
  isScoreMethod(feed.method) ? scoreMethods[feed.method] : currentMethod

/** Symbols that the files of this ranking speak of: those of other files must not show, or its bytes would depend on them. */
function presentIn({ view, columns, mayUse }: BuildInput): Uint8Array {
  const present = new Uint8Array(view.symbols.length)
  if (view.listingOrigins.every(mayUse)) present.set(view.listed)
  for (const [name, { values }] of Object.entries(columns)) {
    // A symbol that is not in the fails file has a balance of zero, so zero does not show that a file names it.
    const least = name === 'fails' || name === 'fails_mean' ? 0 : Number.NEGATIVE_INFINITY
    for (let i = 0; i < values.length; i += 1) if ((values[i] as number) > least) present[i] = 1
  }
  return present
}

/** Without the right to use the directory, only what the symbol itself says about its paper may be used. */
function withKinds(input: BuildInput): AsOfView {
  const { view } = input
  if (view.listingOrigins.every((origin) => input.mayUse(origin))) return view
  return {
    ...view,
    kinds: view.symbols.map((_, symbol) => input.kindOf(symbol) as AsOfView['kinds'][number]),
    listed: new Uint8Array(view.symbols.length).fill(1),
  }
}

function leftOutFactors(input: BuildInput, method: ScoreMethod, used: readonly Factor[]) {
  return method.factors
    .filter((rule) => !used.some((factor) => factor.rule.name === rule.name))
    .map(({ name, weight }) => {
      const refused = factorColumns[name].some(
        (column: ColumnName) => input.view.columns[column] !== undefined && input.columns[column] === undefined,
      )
      return { name, weight, why: refused ? 'licence' : 'no data' }
    })
}
