import { findCatalysts } from '../score/catalysts.ts'
import { computeFactors, factorColumns } from '../score/factors.ts'
import { type FactorName, factorRules, scoreMeaning, scoreMethod } from '../score/method.ts'
import { type Factor, scoreUniverse } from '../score/score-universe.ts'
import { chooseUniverse, type UniverseId } from '../score/universe.ts'
import type { Column, ColumnName, World } from '../world/world.ts'
import { numberText } from './provenance.ts'
import type { BuildInput, RowPlan } from './row-plan.ts'

const universes: Record<string, UniverseId> = { squeeze: 'shares', equities: 'listed_shares', etf: 'funds' }
const shownLive: readonly FactorName[] = ['short_interest_to_shares', 'days_to_cover', 'borrow_fee', 'fails_to_shares']
const trendDays = 20

/** The composite ranking: score, what it is made of, and why others are not in it. */
export function planComposite(input: BuildInput): RowPlan {
  const { columns, provenance } = input
  const world = withKinds(input)
  const factors = computeFactors(world, columns)
  const ratios = factors.find(({ rule }) => rule.name === 'short_interest_to_shares')?.values
  const { takesPart, excluded } = chooseUniverse(world, universes[input.feed.id] ?? 'shares', ratios)
  const haltsAllowed = world.halts.every((halt) => input.mayUse(halt.origin))
  const catalysts = findCatalysts(world, columns, haltsAllowed)
  const scored = scoreUniverse({ takesPart, factors, catalysts: catalysts.points })
  const ranked = new Uint8Array(takesPart.length)
  for (const symbol of scored.ranking) ranked[symbol] = 1
  const reasons = new Map<number, string>(excluded)
  let taking = 0
  for (let i = 0; i < takesPart.length; i += 1) {
    if (takesPart[i] !== 1) continue
    taking += 1
    if (ranked[i] !== 1) reasons.set(i, 'too_little_known')
  }
  const columnsOf = new Map(
    factors.map(({ rule }) => [rule.name, factorColumns[rule.name].map((name) => columns[name] as Column)]),
  )
  const cell = (factor: Factor, symbol: number, extra: string) => {
    const value = factor.values[symbol] as number
    if (Number.isNaN(value)) return 'null'
    return `{"value":${numberText(value)}${extra}${provenance.tail(columnsOf.get(factor.rule.name) as Column[], symbol)}`
  }
  const live = (row: number) => {
    const symbol = scored.ranking[row] as number
    const shown = factors
      .filter(({ rule }) => shownLive.includes(rule.name))
      .map((factor) => `"${factor.rule.name}":${cell(factor, symbol, '')}`)
    const present = factors.filter(({ values }) => !Number.isNaN(values[symbol] as number))
    const parts = present.flatMap(({ rule }) => columnsOf.get(rule.name) as Column[])
    const score = `{"value":${numberText(scored.score[symbol] as number, 2)}${provenance.tail(parts, symbol)}`
    return `"score":${numberText(scored.score[symbol] as number, 2)},"coverage_pct":${numberText(scored.coverage[symbol] as number, 1)},"catalysts":${JSON.stringify(catalysts.reasons.get(symbol) ?? [])},"values":{"score":${score}${shown.length > 0 ? `,${shown.join(',')}` : ''}}${trendText(input, symbol)}`
  }
  const vip = (row: number) => {
    const symbol = scored.ranking[row] as number
    const cells = factors.map((factor, index) => {
      const extra = `,"percentile":${numberText(scored.percentiles[index]?.[symbol] as number, 2)},"weight":${factor.rule.weight},"points":${numberText(scored.points[index]?.[symbol] as number, 3)}`
      return `"${factor.rule.name}":${cell(factor, symbol, extra)}`
    })
    const missing = factorRules
      .filter(
        (rule) =>
          !factors.some((factor) => factor.rule.name === rule.name && !Number.isNaN(factor.values[symbol] as number)),
      )
      .map(({ name }) => name)
    return `"factors":{${cells.join(',')}},"missing_factors":${JSON.stringify(missing)},"catalyst_points":${numberText(catalysts.points[symbol] as number, 1)}`
  }
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
      score_method: scoreMethod,
      factors_used: factors.map(({ rule }) => ({ name: rule.name, weight: rule.weight })),
      factors_left_out: leftOutFactors(input, factors),
    },
  }
}

/** Without the right to use the directory, only what the symbol itself says about its paper may be used. */
function withKinds(input: BuildInput): World {
  const { world } = input
  if (world.listingOrigins.every((origin) => input.mayUse(origin))) return world
  return {
    ...world,
    kinds: world.symbols.map((_, symbol) => input.kindOf(symbol) as World['kinds'][number]),
    listed: new Uint8Array(world.symbols.length).fill(1),
  }
}

function leftOutFactors(input: BuildInput, used: readonly Factor[]) {
  return factorRules
    .filter((rule) => !used.some((factor) => factor.rule.name === rule.name))
    .map(({ name, weight }) => {
      const refused = factorColumns[name].some(
        (column: ColumnName) => input.world.columns[column] !== undefined && input.columns[column] === undefined,
      )
      return { name, weight, why: refused ? 'licence' : 'no data' }
    })
}

/** The last days of short share, for a small picture; null where a day is unknown. */
export function trendText(input: BuildInput, symbol: number): string {
  if (!input.columns.short_ratio) return ''
  const days = input.world.ratioDays.slice(-trendDays)
  return `,"trend":{"of":"short_volume_ratio","values":[${days.map(({ ratios }) => numberText(ratios[symbol] as number, 3)).join(',')}]}`
}
