import type { Micro } from '@assay/protocol/money'
import { cappedValue, type OptionKind } from './black76.ts'
import { type ContractTerms, capOf, contractSize, expiryText, widthOf } from './contract-terms.ts'

export type SeriesPlan = ContractTerms & {
  symbol: string
  cluster: string
  expiresAtMs: number
  capMicro: Micro
  volatility: number
  openInterestMicro: Micro
}

export type PlanInput = {
  cluster: string
  indexE4: bigint
  volatility: number
  expiresAtMs: number
  years: number
  /** Points from the money at which strikes are listed, such as -5, 0 and 5. */
  strikesAround: readonly number[]
  targetMicro: Micro
  /** A point, of all contracts of a side. */
  openInterestMicro: Micro
}

export const strikeStep = 5

/** The series worth listing on a cluster for one expiry; those with absurd collateral or no room are left out. */
export function planSeries(input: PlanInput): SeriesPlan[] {
  const forward = Number(input.indexE4) / 10_000
  const atTheMoney = Math.round(forward / strikeStep) * strikeStep
  const prefix = `TC-${input.cluster}-${expiryText(input.expiresAtMs)}`
  const plans: SeriesPlan[] = []
  for (const offset of input.strikesAround)
    for (const kind of ['C', 'P'] as const) {
      const plan = planOne(input, kind, atTheMoney + offset, forward, prefix)
      if (plan) plans.push(plan)
    }
  return plans
}

function planOne(
  input: PlanInput,
  kind: OptionKind,
  strike: number,
  forward: number,
  prefix: string,
): SeriesPlan | undefined {
  if (strike < strikeStep || strike > 9_995) return undefined
  const width = widthOf(kind, strike)
  const { price } = cappedValue({ kind, forward, strike, width, volatility: input.volatility, years: input.years })
  const sizeMicro = contractSize(price, kind, strike, input.targetMicro)
  if (sizeMicro === undefined) return undefined
  const capMicro = capOf({ width, sizeMicro })
  if (sizeMicro > input.openInterestMicro) return undefined
  const { cluster, expiresAtMs, volatility, openInterestMicro } = input
  return {
    symbol: `${prefix}-${strike}-${kind}`,
    cluster,
    expiresAtMs,
    kind,
    strike,
    width,
    sizeMicro,
    capMicro,
    volatility,
    openInterestMicro,
  }
}
