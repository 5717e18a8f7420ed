import { expect, test } from 'vitest'
import { chainOf, expiriesOf, firstBuyable, type Series } from './chain.ts'

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
