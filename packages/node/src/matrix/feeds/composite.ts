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
  const { takesPart, excluded } = chooseUniverse(world, universes[input.feed.id] ?? 'shares', ratios, presentIn(input))
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
  const columnsOf = factors.map(({ rule }) => factorColumns[rule.name].map((name) => columns[name] as Column))
  const cell = (index: number, symbol: number, extra: string) => {
    const value = (factors[index] as Factor).values[symbol] as number
    if (Number.isNaN(value)) return 'null'
    return `{"value":${numberText(value)}${extra}${provenance.tail(columnsOf[index] as Column[], symbol)}`
  }
  const known = createKnownFactors(factors)
  const behindScore = new Map<number, Column[]>()
  const columnsBehind = (mask: number) => {
    const found = behindScore.get(mask) ?? columnsOf.flatMap((list, index) => (mask & (1 << index) ? list : []))
    behindScore.set(mask, found)
    return found
  }
  const shown = factors.flatMap(({ rule }, index) => (shownLive.includes(rule.name) ? [index] : []))
  const live = (row: number) => {
    const symbol = scored.ranking[row] as number
    const scoreText = numberText(scored.score[symbol] as number, 2)
    const reasonsOf = catalysts.reasons.get(symbol)
    let text = `"score":${scoreText},"coverage_pct":${numberText(scored.coverage[symbol] as number, 1)},"catalysts":${reasonsOf ? JSON.stringify(reasonsOf) : '[]'},"values":{"score":{"value":${scoreText}${provenance.tail(columnsBehind(known(symbol)), symbol)}`
    for (const index of shown) text += `,"${(factors[index] as Factor).rule.name}":${cell(index, symbol, '')}`
    return `${text}}${trendText(input, symbol)}`
  }
  const missingTexts = new Map<number, string>()
  const missingText = (mask: number) => {
    const found = missingTexts.get(mask) ?? JSON.stringify(missingFactors(factors, mask))
    missingTexts.set(mask, found)
    return found
  }
  const vip = (row: number) => {
    const symbol = scored.ranking[row] as number
    let cells = ''
    for (let index = 0; index < factors.length; index += 1) {
      const { rule } = factors[index] as Factor
      const extra = `,"percentile":${numberText(scored.percentiles[index]?.[symbol] as number, 2)},"weight":${rule.weight},"points":${numberText(scored.points[index]?.[symbol] as number, 3)}`
      cells += `${index === 0 ? '' : ','}"${rule.name}":${cell(index, symbol, extra)}`
    }
    return `"factors":{${cells}},"missing_factors":${missingText(known(symbol))},"catalyst_points":${numberText(catalysts.points[symbol] as number, 1)}`
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

/** Which factors are known of a symbol, a bit each: rows with the same ones share what is said about them. */
function createKnownFactors(factors: readonly Factor[]): (symbol: number) => number {
  return (symbol) => {
    let mask = 0
    for (let index = 0; index < factors.length; index += 1)
      if (!Number.isNaN((factors[index] as Factor).values[symbol] as number)) mask |= 1 << index
    return mask
  }
}

function missingFactors(factors: readonly Factor[], mask: number): FactorName[] {
  return factorRules
    .filter((rule) => !factors.some((factor, index) => factor.rule.name === rule.name && mask & (1 << index)))
    .map(({ name }) => name)
}

/** Symbols that the files of this ranking speak of: those of other files must not show, or its bytes would depend on them. */
function presentIn({ world, columns, mayUse }: BuildInput): Uint8Array {
  const present = new Uint8Array(world.symbols.length)
  if (world.listingOrigins.every(mayUse)) present.set(world.listed)
  for (const [name, { values }] of Object.entries(columns)) {
    // Whoever is not in the fails file has a balance of zero, and so has everybody else.
    const least = name === 'fails' ? 0 : Number.NEGATIVE_INFINITY
    for (let i = 0; i < values.length; i += 1) if ((values[i] as number) > least) present[i] = 1
  }
  return present
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
  const { ratioDays } = input.world
  let values = ''
  for (let day = Math.max(0, ratioDays.length - trendDays); day < ratioDays.length; day += 1) {
    const ratio = (ratioDays[day] as World['ratioDays'][number]).ratios[symbol] as number
    values += `${values === '' ? '' : ','}${Number.isNaN(ratio) ? 'null' : (shareTexts[Math.round(ratio * 1000)] ?? numberText(ratio, 3))}`
  }
  return `,"trend":{"of":"short_volume_ratio","values":[${values}]}`
}

/** Shares of one, by thousandths: there are few, and each row shows twenty. */
const shareTexts = Array.from({ length: 1_001 }, (_, thousandths) => String(thousandths / 1000))
