import { expect, test } from 'vitest'
import { chainOf, expiriesOf, firstBuyable, modelCells, type Series } from './chain.ts'

const series = (kind: 'call' | 'put', strike: number, expires_at: string, buyable = true, cluster = '1'): Series => ({
  symbol: `TC-${cluster}-${expires_at}-${strike}-${kind}`,
  cluster,
  kind,
  strike,
  pays_up_to: 50,
  size_micro: '1',
  most_micro: '50',
  last_trade_at: expires_at,
  expires_at,
  state: 'trading',
  premium_micro: null,
  premium_usd: null,
  buyable,
  implied_volatility: 0.9,
  greeks: { delta: -0.553, gamma: 0.0151, vega: 11.4, theta: -62.1 },
})

const all = [
  series('put', 105, '2026-02-01'),
  series('call', 95, '2026-02-01'),
  series('put', 95, '2026-02-01'),
  series('call', 95, '2026-01-01', false),
  series('call', 95, '2026-01-01', true, '2'),
]

test('a chain has one row a strike, with the call and the put where there is one', () => {
  const rows = chainOf(all, '1', '2026-02-01')
  expect(rows.map(({ strike, call, put }) => [strike, call?.kind, put?.kind])).toEqual([
    [95, 'call', 'put'],
    [105, undefined, 'put'],
  ])
})

test('ends are listed in order, and the first one shown has something to buy', () => {
  expect(expiriesOf(all, '1')).toEqual(['2026-01-01', '2026-02-01'])
  expect(firstBuyable(all, '1')).toBe('2026-02-01')
  expect(firstBuyable(all, 'none')).toBeUndefined()
})

test('greeks are shown for one percent of volatility and one day, and as a dash before the first pricing', () => {
  expect(modelCells(series('call', 95, '2026-02-01'))).toEqual(['90 %', '−0.55', '0.0151', '0.114', '−0.170'])
  expect(modelCells({ implied_volatility: null, greeks: null })).toEqual(['–', '–', '–', '–', '–'])
})
