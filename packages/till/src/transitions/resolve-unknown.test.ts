import { expect, test } from 'vitest'
import { refusedPrefix, resolveUnknown, type UnknownFacts } from './resolve-unknown.ts'

const payment = { headBlock: 5n, validBefore: 1_000n, transaction: null, reason: null }
const resolve = (facts: UnknownFacts, of: Partial<typeof payment> | { reason: string } = {}) =>
  resolveUnknown({ ...payment, ...of }, facts, { expired: 'too_late' })

test('an unused payment has failed once its time has passed at a final block, at which it is unused', () => {
  expect(resolve({})).toEqual({ status: 'need', fact: 'used' })
  expect(resolve({ used: false })).toEqual({ status: 'need', fact: 'finalTime' })
  expect(resolve({ used: false, finalTime: 1_000 })).toMatchObject({ status: 'unknown' })
  expect(resolve({ used: false, finalTime: 1_001 })).toEqual({ status: 'need', fact: 'usedAtFinal' })
  expect(resolve({ used: false, finalTime: 1_001, usedAtFinal: true })).toMatchObject({ status: 'unknown' })
  expect(resolve({ used: false, finalTime: 1_001, usedAtFinal: false })).toEqual({
    ...{ status: 'failed', reason: 'too_late', gasGwei: 0n },
  })
})

test('a refused payment has failed a minute after its time at the head, if it is unused there', () => {
  const refused = { reason: `${refusedPrefix}no_funds` }
  expect(resolve({ used: false }, refused)).toEqual({ status: 'need', fact: 'headTime' })
  // Too early for the head to say so: only a final block can.
  expect(resolve({ used: false, headTime: 1_060 }, refused)).toEqual({ status: 'need', fact: 'finalTime' })
  expect(resolve({ used: false, headTime: 1_061 }, refused)).toEqual({ status: 'need', fact: 'usedAtHead' })
  expect(resolve({ used: false, headTime: 1_061, usedAtHead: true }, refused)).toEqual({
    status: 'need',
    fact: 'finalTime',
  })
  expect(resolve({ used: false, headTime: 1_061, usedAtHead: false }, refused)).toEqual({
    ...{ status: 'failed', reason: 'no_funds', gasGwei: 0n },
  })
})
