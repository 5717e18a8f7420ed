import { expect, test } from 'vitest'
import { seriesTable } from './series-table.ts'

const row = {
  symbol: 'TC-1459-202612040910-105-C',
  premium_usd: '99.999312',
  implied_volatility: 3,
  volatility: 2.9,
  greeks: { delta: -0.553, gamma: 0.0151, vega: 11.4, theta: -620.1 },
  last_trade_at: '2026-12-04T09:10:00.000Z',
}
const nowMs = Date.parse('2026-12-01T09:10:00.000Z')

test('series are a table with greeks that fits into 80 columns', () => {
  const text = seriesTable([row, { ...row, premium_usd: null, implied_volatility: null, greeks: null }], nowMs)
  for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(80)
  expect(text.split('\n')[1]).toBe('TC-1459-202612040910-105-C   100.00  300%  -0.55  0.0151  0.114  -1.698   3 d')
})
