import { expect, test } from 'vitest'
import { createOrderBook } from './book.ts'

const offer = (id: string, price: number, seq: number, quantity = 1) => ({
  id,
  writer: `w-${id}`,
  price,
  seq,
  quantity,
})

test('an offer that came back is between older and younger ones, wherever it was before', () => {
  const book = createOrderBook()
  for (let seq = 1; seq <= 6; seq += 1) book.place(offer(`o${seq}`, 60, seq))
  expect(book.take({ quantity: 4, total: 240 })).toMatchObject({ status: 'taken' })
  for (const id of ['o3', 'o1', 'o4', 'o2']) expect(book.restore(id, 1)).toBe(true)
  const again = book.take({ quantity: 6, total: 360 })
  expect(again.status === 'taken' && again.fills.map(({ offerId }) => offerId)).toEqual([
    'o1',
    'o2',
    'o3',
    'o4',
    'o5',
    'o6',
  ])
})

test('an offer that is still queued is not queued twice when part of it comes back', () => {
  const book = createOrderBook()
  book.place(offer('o1', 60, 1, 3))
  book.take({ quantity: 2, total: 120 })
  book.restore('o1', 2)
  expect(book.depth(5)).toEqual([{ price: 60, quantity: 3, offers: 1 }])
  expect(book.take({ quantity: 3, total: 180 })).toMatchObject({ fills: [{ offerId: 'o1', quantity: 3 }] })
})

test('an offer of nothing is known and shown nowhere', () => {
  const book = createOrderBook()
  book.place(offer('o1', 60, 1, 0))
  expect(book.offer('o1')).toMatchObject({ id: 'o1', quantity: 0 })
  expect(book.depth(5)).toEqual([])
  expect(book.withdraw('o1', 1)).toBe(0)
  expect(book.restore('o1', 2)).toBe(true)
  expect(book.depth(5)).toEqual([{ price: 60, quantity: 2, offers: 1 }])
})

test('depth shows the best prices only, counts those who still offer, and skips what was withdrawn', () => {
  const book = createOrderBook()
  for (const [id, price, seq, quantity] of [
    ['a', 62, 1, 2],
    ['b', 60, 2, 1],
    ['c', 60, 3, 4],
    ['d', 61, 4, 1],
    ['e', 60, 5, 1],
  ] as const)
    book.place(offer(id, price, seq, quantity))
  expect(book.withdraw('d', 1)).toBe(1)
  expect(book.withdraw('e', 1)).toBe(1)
  expect(book.depth(1)).toEqual([{ price: 60, quantity: 5, offers: 2 }])
  book.take({ quantity: 1, total: 60 })
  expect(book.depth(9)).toEqual([
    { price: 60, quantity: 4, offers: 1 },
    { price: 62, quantity: 2, offers: 1 },
  ])
  expect(book.depth(0)).toEqual([])
})

test('writers at the price of the vault come first, and the vault before dearer ones', () => {
  const book = createOrderBook()
  book.place(offer('same', 60, 1))
  book.place(offer('dear', 61, 2))
  const vault = { writer: 'vault', price: 60, quantity: 1 }
  expect(book.cost(3, vault)).toEqual({ total: 181, available: 3 })
  expect(book.take({ quantity: 3, total: 181, vault })).toEqual({
    status: 'taken',
    total: 181,
    fills: [
      { offerId: 'same', writer: 'w-same', quantity: 1, price: 60 },
      { offerId: null, writer: 'vault', quantity: 1, price: 60 },
      { offerId: 'dear', writer: 'w-dear', quantity: 1, price: 61 },
    ],
  })
  expect(book.cost(2)).toEqual({ total: 0, available: 0 })
  expect(book.take({ quantity: 1, total: 99, vault: { ...vault, quantity: 0 } })).toEqual({
    status: 'too_few',
    available: 0,
  })
})

test('a long queue keeps its order and its sums while it is cut behind the buyers', () => {
  const book = createOrderBook()
  for (let seq = 1; seq <= 600; seq += 1) book.place(offer(`o${seq}`, 60, seq))
  const sold: (string | null)[] = []
  for (let turn = 0; turn < 100; turn += 1) {
    const outcome = book.take({ quantity: 5, total: 300 })
    if (outcome.status === 'taken') sold.push(...outcome.fills.map(({ offerId }) => offerId))
    expect(book.depth(1)).toEqual([{ price: 60, quantity: 595 - turn * 5, offers: 595 - turn * 5 }])
  }
  expect(sold).toEqual(Array.from({ length: 500 }, (_, n) => `o${n + 1}`))
  book.restore('o7', 1)
  expect(book.take({ quantity: 2, total: 120 })).toMatchObject({ fills: [{ offerId: 'o7' }, { offerId: 'o501' }] })
})

test('of the last offer only what is still wanted is taken, and an emptied one is passed over', () => {
  const book = createOrderBook()
  for (const [seq, quantity] of [1, 2, 5].entries()) book.place(offer(`o${seq}`, 60, seq, quantity))
  expect(book.withdraw('o0', 1)).toBe(1)
  const outcome = book.take({ quantity: 4, total: 240 })
  expect(outcome.status === 'taken' && outcome.fills.map(({ offerId, quantity }) => [offerId, quantity])).toEqual([
    ['o1', 2],
    ['o2', 2],
  ])
  expect(book.depth(1)).toEqual([{ price: 60, quantity: 3, offers: 1 }])
})
