import { expect, test } from 'vitest'
import { addPostings, joinPostings } from './join-postings.ts'
import type { LedgerTransaction } from './transaction.ts'

const posting = (reference: string, paymentId: string | undefined, ...amounts: bigint[]) =>
  ({
    reference,
    kind: 'sale',
    ...(paymentId === undefined ? {} : { paymentId }),
    lines: amounts.map((amount, line) => ({ account: { name: `${reference}.${line}` }, amount })),
  }) as unknown as LedgerTransaction

const shape = (postings: readonly LedgerTransaction[]) =>
  postings.map(({ reference, lines }) => [reference, lines.length])

test('what is about the same call becomes one posting, in the order of the sales', () => {
  const sales = [posting('s1', 'p1', 1n, -1n), posting('s2', 'p2', 1n, -1n)]
  const others = [posting('r2', 'p2', 2n, -2n), posting('r1', 'p1', 3n, -3n), posting('q1', 'p1', 4n, -4n)]
  const joined = joinPostings(sales, others)
  expect(shape(joined)).toEqual([
    ['s1', 6],
    ['s2', 4],
  ])
  expect(joined[0]?.lines.map(({ amount }) => amount)).toEqual([1n, -1n, 3n, -3n, 4n, -4n])
})

test('what has no sale beside it stays its own posting, and none is used twice', () => {
  const sales = [posting('s1', 'p1', 1n), posting('again', 'p1', 1n)]
  const others = [posting('r1', 'p1', 2n), posting('alone', 'p9', 3n), posting('beside', 'p9', 3n)]
  expect(shape(joinPostings(sales, others))).toEqual([
    ['s1', 2],
    ['again', 1],
    ['alone', 1],
    ['beside', 1],
  ])
})

test('postings without a payment belong together as well', () => {
  expect(shape(joinPostings([posting('s', undefined, 1n)], [posting('r', undefined, 2n)]))).toEqual([['s', 2]])
})

test('without sales there is nothing to join', () => {
  const others = [posting('r1', 'p1', 1n)]
  expect(joinPostings([], others)).toBe(others)
})

test('a posting names each account once, and none that is left as it was', () => {
  const line = (name: string, amount: bigint) => ({ account: { name }, amount })
  const sale = {
    ...posting('s', 'p'),
    lines: [line('onchain', 5n), line('clearing', -5n)],
  } as unknown as LedgerTransaction
  const split = {
    ...posting('t', 'p'),
    lines: [line('clearing', 5n), line('revenue', -5n)],
  } as unknown as LedgerTransaction
  const unposted = [sale]
  addPostings(unposted, [
    split,
    { ...split, lines: [line('revenue', 2n), line('toll', -2n)] } as unknown as LedgerTransaction,
  ])
  expect(unposted).toEqual([{ ...sale, lines: [line('onchain', 5n), line('revenue', -3n), line('toll', -2n)] }])
})
