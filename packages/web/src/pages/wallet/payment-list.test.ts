import { expect, test } from 'vitest'
import { filterPayments, paymentsCsv } from './payment-list.ts'

const one = {
  id: 'pay_1',
  state: 'served',
  route: 'tokens.report',
  network: 'eip155:8453',
  amount_micro: '20000',
  transaction: null,
  final: true,
  claimed_at: '2026-01-01T00:00:00.000Z',
}
const other = { ...one, id: 'pay_2', state: 'refunded', route: 'matrix.live' }

test('a filter keeps the payments in which every word is found', () => {
  expect(filterPayments([one, other], '')).toEqual([one, other])
  expect(filterPayments([one, other], ' REFUNDED  matrix')).toEqual([other])
  expect(filterPayments([one, other], 'refunded tokens')).toEqual([])
})

test('the export has a heading and a line for each payment', () => {
  expect(paymentsCsv([one]).split('\n')).toEqual([
    'id,state,route,network,amount_micro,transaction,final,claimed_at',
    'pay_1,served,tokens.report,eip155:8453,20000,,true,2026-01-01T00:00:00.000Z',
    '',
  ])
})
