import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { PaymentEnvelope } from '../../contract/scheme.ts'
import { decodePermit2 } from './decode-permit2.ts'

const envelopeWith = (payload: unknown): PaymentEnvelope => ({
  ...{
    scheme: 'upto',
    network: 'eip155:8453',
    amount: '1',
    asset: undefined,
    payTo: undefined,
    resourceUrl: undefined,
  },
  ...{ identifier: undefined, bindingSalt: undefined, offers: [] },
  payload: payload as Record<string, unknown>,
})

const address = `0x${'11'.repeat(20)}`
const permit = {
  from: address,
  permitted: { token: address, amount: '20000' },
  spender: '0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002',
  nonce: '7',
  deadline: '1800000000',
  witness: { to: address, facilitator: address, validAfter: '0' },
}
const payload = { signature: `0x${'22'.repeat(65)}`, permit2Authorization: permit }

test('a whole permit is read, with the deadline as its last second', () => {
  const read = decodePermit2('upto', envelopeWith(payload))
  expect(read).toMatchObject({ status: 'ok', payment: { payer: address, payTo: address, validBefore: 1_800_000_001n } })
})

test('a permit of the other scheme, or beside another authorization, is malformed', () => {
  expect(decodePermit2('exact', envelopeWith(payload)).status).toBe('malformed')
  expect(decodePermit2('upto', envelopeWith({ ...payload, authorization: {} })).status).toBe('malformed')
})

test('whatever is in one place, it is read strictly or refused, and never throws', () => {
  const places = ['from', 'nonce', 'deadline', 'spender', 'permitted', 'witness'] as const
  fc.assert(
    fc.property(fc.constantFrom(...places), fc.jsonValue(), (place, value) => {
      const changed = { ...payload, permit2Authorization: { ...permit, [place]: value } }
      const read = decodePermit2('upto', envelopeWith(changed))
      expect(['ok', 'malformed']).toContain(read.status)
      if (read.status === 'ok') expect(typeof read.payment.signed.transfer.nonce).toBe('bigint')
    }),
  )
  fc.assert(fc.property(fc.jsonValue(), (value) => decodePermit2('upto', envelopeWith(value)).status === 'malformed'))
})
