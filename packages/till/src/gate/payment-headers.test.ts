import { expect, test } from 'vitest'
import type { PaymentDialect } from '../contract/payment-dialect.ts'
import { refusedMppDialect } from '../schemes/mpp/dialect.ts'
import { x402Dialect } from '../schemes/x402-dialect.ts'
import { createHeaderReader } from './payment-headers.ts'

const toy: PaymentDialect = {
  headers: [{ name: 'Toy-Payment', find: (headers) => headers.get('toy-payment') }],
  read: () => {
    throw new Error('nothing is read before the gate asks')
  },
}

const read = (headers: Record<string, string>) =>
  createHeaderReader([x402Dialect, refusedMppDialect, toy])(new Map(Object.entries(headers)))
const problemOf = (headers: Record<string, string>) => {
  const found = read(headers)
  return found !== 'none' && 'problem' in found ? [found.problem.kind.code, found.problem.details.detail] : found
}

test('the payment of a request is found by the headers of each dialect', () => {
  expect(read({ 'payment-signature': 'abc' })).toEqual({ dialect: x402Dialect, header: 'abc' })
  expect(read({ authorization: 'Payment abc' })).toEqual({ dialect: refusedMppDialect, header: 'Payment abc' })
  expect(read({ 'toy-payment': 'abc' })).toEqual({ dialect: toy, header: 'abc' })
  expect(read({ authorization: 'Bearer abc' })).toBe('none')
})

test('two payments, a repeated one and one of version 1 are refused before anything is read', () => {
  expect(problemOf({ 'payment-signature': 'a', 'toy-payment': 'b' })).toEqual([
    'payment_malformed',
    'PAYMENT-SIGNATURE and Toy-Payment were both sent; send one.',
  ])
  expect(problemOf({ 'payment-signature': 'a, b' })).toEqual([
    'payment_malformed',
    'PAYMENT-SIGNATURE was sent more than once.',
  ])
  expect(problemOf({ 'x-payment': 'a, b' })).toEqual(['payment_v1', undefined])
})
