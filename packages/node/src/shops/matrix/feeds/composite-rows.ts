import type { AsOfView, Column } from '../as-of/as-of-view.ts'
import type { Catalysts } from '../score/catalysts.ts'
import { factorColumns } from '../score/factors.ts'
import type { FactorName, ScoreMethod } from '../score/method.ts'
import type { Factor, ScoredUniverse } from '../score/score-universe.ts'
import { numberText } from './provenance.ts'
import type { BuildInput, RowPlan } from './row-plan.ts'

const trendDays = 20
/** Enough to tell the neighbours of a ranking of 50,000 apart. */
const scoreDecimals = 3

/** The text of ranked rows. There are thousands, so whatever they have in common is worked out once. */
export function compositeRows(
  input: BuildInput,
  ranking: {
    method: ScoreMethod
    factors: readonly Factor[]
    /** Shown beside the score. */
    shown: readonly Factor[]
    scored: ScoredUniverse
    catalysts: Catalysts
  },
): Pick<RowPlan, 'live' | 'vip'> {
  const { method, factors, shown, scored, catalysts } = ranking
  const { columns, provenance } = input
  const behind = ({ rule }: Factor) => factorColumns[rule.name].map((name) => columns[name] as Column)
  const columnsOf = factors.map(behind)
  const shownColumns = shown.map(behind)
  const cell = (factor: Factor, from: readonly Column[], symbol: number, extra: string) => {
    const value = factor.values[symbol] as number
    if (Number.isNaN(value)) return 'null'
    return `{"value":${numberText(value)}${extra}${provenance.tail(from, symbol)}`
  }
  const known = createKnownFactors(factors)
  const behindScore = new Map<number, Column[]>()
  const columnsBehind = (mask: number) => {
    const found = behindScore.get(mask) ?? columnsOf.flatMap((list, index) => (mask & (1 << index) ? list : []))
    behindScore.set(mask, found)
    return found
  }
  const live = (row: number) => {
    const symbol = scored.ranking[row] as number
    const scoreText = numberText(scored.score[symbol] as number, scoreDecimals)
    const reasonsOf = catalysts.reasons.get(symbol)
    let text = `"score":${scoreText},"strength":${numberText(scored.strength[symbol] as number)},"coverage_pct":${numberText(scored.coverage[symbol] as number, 1)},"catalysts":${reasonsOf ? JSON.stringify(reasonsOf) : '[]'},"values":{"score":{"value":${scoreText}${provenance.tail(columnsBehind(known(symbol)), symbol)}`
    for (const [index, factor] of shown.entries())
      text += `,"${factor.rule.name}":${cell(factor, shownColumns[index] as Column[], symbol, '')}`
    return `${text}}${trendText(input, symbol)}`
  }
  const missingTexts = new Map<number, string>()
  const missingText = (mask: number) => {
    const found = missingTexts.get(mask) ?? JSON.stringify(missingFactors(method, factors, mask))
    missingTexts.set(mask, found)
    return found
  }
  const vip = (row: number) => {
    const symbol = scored.ranking[row] as number
    let cells = ''
    for (let index = 0; index < factors.length; index += 1) {
      const factor = factors[index] as Factor
      const { rule } = factor
      const extra = `,"percentile":${numberText(scored.percentiles[index]?.[symbol] as number, 2)},"weight":${rule.weight},"points":${numberText(scored.points[index]?.[symbol] as number, 3)}`
      cells += `${index === 0 ? '' : ','}"${rule.name}":${cell(factor, columnsOf[index] as Column[], symbol, extra)}`
    }
    return `"factors":{${cells}},"missing_factors":${missingText(known(symbol))},"catalyst_points":${method.catalystsCount ? numberText(catalysts.points[symbol] as number, 1) : 0}`
  }
  return { live, vip }
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

function missingFactors({ factors: all }: ScoreMethod, factors: readonly Factor[], mask: number): FactorName[] {
  return all
    .filter((rule) => !factors.some((factor, index) => factor.rule.name === rule.name && mask & (1 << index)))
    .map(({ name }) => name)
}

/** The last days of short share, for a small picture; null where a day is unknown. */
export function trendText(input: BuildInput, symbol: number): string {
  if (!input.columns.short_ratio) return ''
  const { ratioDays } = input.view
  let values = ''
  for (let day = Math.max(0, ratioDays.length - trendDays); day < ratioDays.length; day += 1) {
    const ratio = (ratioDays[day] as AsOfView['ratioDays'][number]).ratios[symbol] as number
    values += `${values === '' ? '' : ','}${Number.isNaN(ratio) ? 'null' : (shareTexts[Math.round(ratio * 1000)] ?? numberText(ratio, 3))}`
  }
  return `,"trend":{"of":"short_volume_ratio","values":[${values}]}`
}

/** Shares of one, by thousandths: there are few, and each row shows twenty. */
const shareTexts = Array.from({ length: 1_001 }, (_, thousandths) => String(thousandths / 1000))
