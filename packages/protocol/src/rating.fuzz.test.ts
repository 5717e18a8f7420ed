import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type CreditRating, verifyRating } from './rating.ts'

const rating: CreditRating = {
  subject: 'did:x402:0x2c7536e3605d9c16a7a3d7b1898e529396a65c23',
  method: 'assay-credit-1.0',
  issuer: 'did:web:node.test',
  score: 30,
  interval: { low: 30, high: 50, level: 0.9 },
  components: [],
  evidence: {},
  computed_at: '2026-01-01T00:00:00.000Z',
  valid_until: '2026-01-02T00:00:00.000Z',
  jws: '',
}
const keys = new Map([['k', { keyId: 'k', x: 'A'.repeat(43), notBefore: 0, notAfter: undefined }]])
const part = fc.json().map((text) => Buffer.from(text).toString('base64url'))
const shaped = fc.tuple(part, part, fc.stringMatching(/^[A-Za-z0-9_-]{86}$/)).map((parts) => parts.join('.'))

test('whatever is in place of a signature is found to be none', async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.string(), shaped), async (jws) => {
      expect((await verifyRating({ ...rating, jws }, { keys, nowMs: 0 })).status).toBe('invalid')
    }),
  )
})
