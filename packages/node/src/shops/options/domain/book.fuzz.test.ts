import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createOrderBook, type Fill } from './book.ts'

/** The same rules in the plainest way: a list that is sorted and walked each time. */
function createModel() {
  const offers: { id: string; writer: string; price: number; seq: number; quantity: number }[] = []
  const sorted = () => [...offers].sort((a, b) => a.price - b.price || a.seq - b.seq)
  return {
    offers,
    sorted,
    take(quantity: number, total: number, vault?: { writer: string; price: number; quantity: number }) {
      const queue: { id: string | null; writer: string; price: number; quantity: number }[] = sorted()
      if (vault) {
        const at = queue.findIndex(({ price }) => price > vault.price)
        queue.splice(at < 0 ? queue.length : at, 0, { id: null, ...vault })
      }
      const fills: Fill[] = []
      let left = quantity
      for (const { id, writer, price, quantity: offered } of queue) {
        const taken = Math.min(left, offered)
        if (taken > 0) fills.push({ offerId: id, writer, quantity: taken, price })
        left -= taken
      }
      if (left > 0) return { status: 'too_few', available: quantity - left }
      const cost = fills.reduce((sum, fill) => sum + fill.price * fill.quantity, 0)
      if (cost !== total) return { status: 'other_price', total: cost }
      for (const fill of fills) {
        const offer = offers.find(({ id }) => id === fill.offerId)
        if (offer) offer.quantity -= fill.quantity
      }
      return { status: 'taken', fills, total: cost }
    },
  }
}

const prices = fc.integer({ min: 50, max: 56 })
const step = fc.oneof(
  fc.record({ do: fc.constant('place' as const), price: prices, quantity: fc.integer({ min: 0, max: 5 }) }),
  fc.record({
    do: fc.constant('take' as const),
    quantity: fc.integer({ min: 1, max: 8 }),
    total: fc.integer({ min: 50, max: 500 }),
    vault: fc.option(
      fc.record({ writer: fc.constant('vault'), price: prices, quantity: fc.integer({ min: 0, max: 4 }) }),
      {
        nil: undefined,
      },
    ),
  }),
  fc.record({ do: fc.constant('restore' as const), pick: fc.nat(), quantity: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ do: fc.constant('withdraw' as const), pick: fc.nat(), quantity: fc.integer({ min: 1, max: 9 }) }),
)

test('the book does what the plain list does, step by step', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      const book = createOrderBook()
      const model = createModel()
      let seq = 0
      for (const one of steps) {
        if (one.do === 'place') {
          seq += 1
          const offer = { id: `o${seq}`, writer: 'w', price: one.price, seq, quantity: one.quantity }
          book.place(offer)
          model.offers.push({ ...offer })
        } else if (one.do === 'take') {
          const request = { quantity: one.quantity, total: one.total, ...(one.vault ? { vault: one.vault } : {}) }
          const foretold = book.cost(one.quantity, one.vault)
          const outcome = book.take(request)
          expect(outcome).toEqual(model.take(one.quantity, one.total, one.vault))
          if (outcome.status === 'taken') expect(foretold).toEqual({ total: outcome.total, available: one.quantity })
        } else {
          const offer = model.offers[one.pick % Math.max(1, model.offers.length)]
          if (!offer) continue
          if (one.do === 'restore') {
            expect(book.restore(offer.id, one.quantity)).toBe(true)
            offer.quantity += one.quantity
          } else {
            const out = Math.min(offer.quantity, one.quantity)
            expect(book.withdraw(offer.id, one.quantity)).toBe(out)
            offer.quantity -= out
          }
        }
        const rest = new Map<number, number>()
        for (const { price, quantity } of model.sorted())
          if (quantity > 0) rest.set(price, (rest.get(price) ?? 0) + quantity)
        expect(book.depth(100).map(({ price, quantity }) => [price, quantity])).toEqual([...rest])
      }
    }),
  )
})

test('at one price the older offer is sold first, also after it came back', () => {
  const book = createOrderBook()
  for (const seq of [1, 2, 3]) book.place({ id: `o${seq}`, writer: 'w', price: 60, seq, quantity: 1 })
  expect(book.take({ quantity: 2, total: 120 })).toMatchObject({ fills: [{ offerId: 'o1' }, { offerId: 'o2' }] })
  book.restore('o1', 1)
  expect(book.take({ quantity: 2, total: 120 })).toMatchObject({ fills: [{ offerId: 'o1' }, { offerId: 'o3' }] })
  expect(book.take({ quantity: 1, total: 120 })).toEqual({ status: 'too_few', available: 0 })
})

test('an offer is placed once, and an unknown one cannot come back', () => {
  const book = createOrderBook()
  book.place({ id: 'o', writer: 'w', price: 60, seq: 1, quantity: 1 })
  expect(() => book.place({ id: 'o', writer: 'w', price: 61, seq: 2, quantity: 1 })).toThrow()
  expect(book.restore('nobody', 1)).toBe(false)
  expect(book.withdraw('nobody', 1)).toBe(0)
})
