import { withMinus } from '../../ui/format.ts'

export type Series = {
  symbol: string
  cluster: string
  kind: 'call' | 'put'
  strike: number
  pays_up_to: number
  size_micro: string
  most_micro: string
  last_trade_at: string
  expires_at: string
  state: string
  premium_micro: string | null
  premium_usd: string | null
  buyable: boolean
  implied_volatility: number | null
  greeks: Record<'delta' | 'gamma' | 'vega' | 'theta', number> | null
  synthetic?: boolean
}

/** As traders write them: volatility in percent, vega for one percent, theta for one day. */
export const modelColumns = ['IV', 'Delta', 'Gamma', 'Vega', 'Theta'] as const

export function modelCells({ implied_volatility, greeks }: Pick<Series, 'implied_volatility' | 'greeks'>): string[] {
  const iv = implied_volatility === null ? '–' : `${Math.round(implied_volatility * 100)} %`
  if (greeks === null) return [iv, '–', '–', '–', '–']
  const { delta, gamma, vega, theta } = greeks
  const figures = [delta.toFixed(2), gamma.toFixed(4), (vega / 100).toFixed(3), (theta / 365.25).toFixed(3)]
  return [iv, ...figures.map(withMinus)]
}

export type ChainRow = { strike: number; call: Series | undefined; put: Series | undefined }

export function expiriesOf(series: readonly Series[], cluster: string | undefined): string[] {
  return [...new Set(series.filter((one) => one.cluster === cluster).map(({ expires_at }) => expires_at))].sort()
}

/** The nearest end for which something is offered: what ends in a minute is mostly sold out. */
export function firstBuyable(series: readonly Series[], cluster: string | undefined): string | undefined {
  return expiriesOf(
    series.filter(({ buyable }) => buyable),
    cluster,
  )[0]
}

/** One row a strike, calls on one side and puts on the other. */
export function chainOf(series: readonly Series[], cluster: string, expiresAt: string): ChainRow[] {
  const here = series.filter((one) => one.cluster === cluster && one.expires_at === expiresAt)
  const strikes = [...new Set(here.map(({ strike }) => strike))].sort((a, b) => a - b)
  return strikes.map((strike) => ({
    strike,
    call: here.find((one) => one.strike === strike && one.kind === 'call'),
    put: here.find((one) => one.strike === strike && one.kind === 'put'),
  }))
}
