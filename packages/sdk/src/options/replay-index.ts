import type { RowOf } from '../call-operation.ts'

export type OptionInput = RowOf<'options.inputs'>

export type IndexTerms = {
  cluster: string
  tick_ms: number
  decay_ppb: number
  lookback: number
  base_share_e12: string
}

/** `value` in ten-thousandths of a point. */
export type IndexPoint = { value: bigint; agents: number | null }

/** Docs/options.md says how, in words; the order of the sums decides the last digit. */
export function indexAt(terms: IndexTerms, inputs: readonly OptionInput[], at: number): IndexPoint | undefined {
  const { tick_ms, lookback } = terms
  const decay = terms.decay_ppb / 1e9
  const weights: number[] = []
  for (let age = 0, weight = 1; age < lookback; age += 1, weight *= decay) weights.push(weight)
  const sums = new Map<string, { weighted: number; agents: number | null }>()
  const spoken = new Set<number>()
  for (const { cluster, starts_at, ends_at, bonded } of inputs) {
    const first = Math.max(0, Math.ceil((at - Date.parse(ends_at)) / tick_ms))
    const behind = Math.min(lookback, Math.ceil((at - Date.parse(starts_at)) / tick_ms))
    if (first >= behind) continue
    const sum = sums.get(cluster) ?? { weighted: 0, agents: null }
    sums.set(cluster, sum)
    if (first === 0) sum.agents = bonded
    const level = Math.max(bonded ?? 0, 0)
    for (let age = first; age < behind; age += 1) {
      spoken.add(age)
      sum.weighted += (weights[age] as number) * level
    }
  }
  const mine = sums.get(terms.cluster)
  if (!spoken.has(0) || !mine || mine.weighted === 0) return undefined
  let weight = 0
  for (const [age, one] of weights.entries()) if (spoken.has(age)) weight += one
  const levels = [...sums].filter(([, sum]) => sum.weighted > 0).sort(([a], [b]) => (a < b ? -1 : 1))
  let total = 0
  for (const [, sum] of levels) total += sum.weighted / weight
  const share = BigInt(Math.round((mine.weighted / weight / total) * 1e12))
  const base = BigInt(terms.base_share_e12)
  return { value: (share * 1_000_000n + base / 2n) / base, agents: mine.agents }
}

export const pointsText = (value: bigint): string =>
  `${value / 10_000n}.${(value % 10_000n).toString().padStart(4, '0')}`
