import { expect, test } from 'vitest'
import { bestBid } from './best-bid.ts'

const vault = { bid_id: 'bid', bid_micro: '76000000', expires_at: '2026-11-17T10:01:00Z' }
const order = (premium_micro: string) => ({ premium_micro, quantity: 1, orders: 1 })

test('the higher bid is shown and signed; at the same price the one that is promised', () => {
  expect(bestBid([order('76000001'), order('70000000')], vault, 0)).toEqual({
    from: 'book',
    micro: '76000001',
    untilMs: 60_000,
    order: { limit_usd: '76.000001', quantity: 1 },
  })
  expect(bestBid([order('76000000')], vault, 0)).toMatchObject({ from: 'vault', order: { bid_id: 'bid' } })
  expect(bestBid([order('50000000')], undefined, 0)).toMatchObject({ order: { limit_usd: '50.000000' } })
  expect(bestBid([], undefined, 0)).toBeUndefined()
})
