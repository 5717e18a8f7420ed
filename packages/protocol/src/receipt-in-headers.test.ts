import { expect, test } from 'vitest'
import { receiptInHeaders } from './receipt-in-headers.ts'

const settlement = (receipt: unknown) => ({ extensions: { 'offer-receipt': { info: { receipt } } } })

test('finds the JWS of the receipt, and nothing in whatever else a seller sends', () => {
  expect(receiptInHeaders(settlement({ format: 'jws', signature: 'a.b.c' }))).toBe('a.b.c')
  for (const other of [
    undefined,
    {},
    { extensions: 'offer-receipt' },
    { extensions: { 'offer-receipt': [] } },
    { extensions: { 'offer-receipt': { info: null } } },
    settlement(undefined),
    settlement('a.b.c'),
    settlement({ format: 'eip712', signature: 'a.b.c' }),
    settlement({ format: 'jws', signature: 7 }),
  ])
    expect(receiptInHeaders(other), JSON.stringify(other)).toBeUndefined()
})
