import { expect, test } from 'vitest'
import { parsePaymentRequired } from './payment-required.ts'

const exact = {
  ...{ scheme: 'exact', network: 'eip155:8453', amount: '1000', asset: '0xa', payTo: '0xb', maxTimeoutSeconds: 90 },
  extra: {},
}
const read = (extensions: Record<string, unknown>) => {
  const required = { x402Version: 2, resource: { url: 'https://a.example/' }, accepts: [exact], extensions }
  return parsePaymentRequired(btoa(JSON.stringify(required))).accepts
}

test('credit in an extension beside a full list is an offer at the price of the first', () => {
  expect(read({ credit: { info: { proof: 'erc8128' } } }).at(-1)).toMatchObject({
    ...{ scheme: 'credit', network: 'eip155:8453', amount: '1000', extra: { proof: 'erc8128' } },
  })
})

test('an extension of that name with another content is no offer, and spoils none', () => {
  for (const credit of [{}, { info: 1 }, { info: {} }, { info: { proof: 1 } }, { info: [] }])
    expect(read({ credit })).toHaveLength(1)
})
