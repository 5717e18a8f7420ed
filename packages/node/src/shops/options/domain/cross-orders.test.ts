import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type BuyOrder, crossOrders } from './cross-orders.ts'

const order = (id: string, price: number, seq: number, quantity = 1, wallet = id): BuyOrder => ({
  id,
  wallet,
  price,
  seq,
  quantity,
})
const free = { roomOf: () => 100, room: 100 }

test('the order that was there first sets the price', () => {
  const early = crossOrders({ buys: [order('b', 90, 1)], sells: [order('s', 80, 2)], ...free })
  expect(early).toEqual([{ buyId: 'b', sellId: 's', quantity: 1, price: 90 }])
  const late = crossOrders({ buys: [order('b', 90, 2)], sells: [order('s', 80, 1)], ...free })
  expect(late).toEqual([{ buyId: 'b', sellId: 's', quantity: 1, price: 80 }])
})

test('the dearest buyer is served first, by the cheapest seller, and the vault after those who ask no more', () => {
  const matches = crossOrders({
    buys: [order('high', 95, 4, 3), order('low', 85, 1, 2)],
    sells: [order('cheap', 80, 2), order('same', 84, 3), order('dear', 90, 3, 5)],
    vault: { price: 84, quantity: 2 },
    ...free,
  })
  expect(matches.map(({ buyId, sellId, quantity, price }) => [buyId, sellId, quantity, price])).toEqual([
    ['high', 'cheap', 1, 80],
    ['high', 'same', 1, 84],
    ['high', null, 1, 84],
    ['low', null, 1, 84],
  ])
})

test('nobody buys from itself, and nobody more than the limits leave', () => {
  const sells = [order('s', 80, 1, 10, 'me')]
  expect(crossOrders({ buys: [order('b', 90, 2, 1, 'me')], sells, ...free })).toEqual([])
  const many = [order('b', 90, 2, 9, 'you'), order('c', 90, 3, 9, 'you'), order('d', 90, 4, 9, 'they')]
  const matches = crossOrders({ buys: many, sells, roomOf: (wallet) => (wallet === 'you' ? 4 : 9), room: 6 })
  expect(matches.map(({ buyId, quantity }) => [buyId, quantity])).toEqual([
    ['b', 4],
    ['d', 2],
  ])
})

test('contracts that are held already need no room of open interest, and come by price and age as others', () => {
  const matches = crossOrders({
    buys: [order('b', 90, 9, 4)],
    sells: [order('written', 80, 1, 3), { ...order('held', 82, 2, 2), isHeld: true }, order('dear', 90, 3, 1)],
    roomOf: () => 100,
    room: 1,
  })
  expect(matches.map(({ sellId, quantity, price }) => [sellId, quantity, price])).toEqual([
    ['written', 1, 80],
    ['held', 2, 82],
  ])
})

test('nothing is matched beyond a limit or a size, and nothing that crosses is left while there is room', () => {
  const orders = fc.array(
    fc.record({
      price: fc.integer({ min: 50, max: 60 }),
      quantity: fc.integer({ min: 1, max: 5 }),
      seq: fc.integer({ min: 1, max: 40 }),
    }),
    { maxLength: 8 },
  )
  fc.assert(
    fc.property(orders, orders, fc.integer({ min: 0, max: 6 }), (buyRows, sellRows, vaultSize) => {
      const buys = buyRows.map((row, at) => ({ ...row, id: `b${at}`, wallet: `b${at}` }))
      const sells = sellRows.map((row, at) => ({ ...row, id: `s${at}`, wallet: `s${at}` }))
      buys.sort((a, b) => b.price - a.price || a.seq - b.seq)
      sells.sort((a, b) => a.price - b.price || a.seq - b.seq)
      const vault = { price: 55, quantity: vaultSize }
      const matches = crossOrders({ buys, sells, vault, ...free })
      const sum = (of: (match: (typeof matches)[0]) => boolean) =>
        matches.filter(of).reduce((total, { quantity }) => total + quantity, 0)
      const openBuys = buys.filter((buy) => sum(({ buyId }) => buyId === buy.id) < buy.quantity)
      const openSells = sells.filter((sell) => sum(({ sellId }) => sellId === sell.id) < sell.quantity)
      for (const { id, quantity } of buys) expect(sum(({ buyId }) => buyId === id)).toBeLessThanOrEqual(quantity)
      for (const { id, quantity } of sells) expect(sum(({ sellId }) => sellId === id)).toBeLessThanOrEqual(quantity)
      expect(sum(({ sellId }) => sellId === null)).toBeLessThanOrEqual(vaultSize)
      for (const { buyId, sellId, price } of matches) {
        expect(price).toBeLessThanOrEqual(buys.find(({ id }) => id === buyId)?.price ?? 0)
        expect(price).toBeGreaterThanOrEqual(sells.find(({ id }) => id === sellId)?.price ?? vault.price)
      }
      const best = Math.max(...openBuys.map(({ price }) => price))
      expect(best < Math.min(...openSells.map(({ price }) => price))).toBe(true)
      if (sum(({ sellId }) => sellId === null) < vaultSize) expect(best < vault.price).toBe(true)
    }),
    { numRuns: 200 },
  )
})
