import { anyText } from '@assay/protocol/any-text.fixture'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { classifySettle, classifyVerify } from './classify-answer.ts'
import { isDefiniteRefusal } from './error-codes.ts'

const reason = fc.oneof(
  fc.constantFrom('insufficient_funds', 'settlement_pending', 'invalid_payload', 'unexpected_settle_error', ''),
  fc.string(),
)
const transaction = fc.oneof(fc.constant(`0x${'1a'.repeat(32)}`), fc.constantFrom('', '0x', null, 7), fc.string())
const answer = fc.record(
  {
    success: fc.oneof(fc.boolean(), fc.string()),
    isValid: fc.oneof(fc.boolean(), fc.integer()),
    errorReason: reason,
    invalidReason: reason,
    transaction,
    errorMessage: anyText(),
  },
  { requiredKeys: [] },
)
const body = fc.oneof(
  answer.map((fields) => JSON.stringify(fields)),
  fc.json(),
  fc.string(),
)
const code = fc.oneof(fc.constantFrom(200, 201, 302, 400, 402, 408, 429, 500, 503), fc.integer({ min: 100, max: 599 }))

describe('any answer whatever', () => {
  it('is a success only as 2xx with success true and a whole hash', () => {
    fc.assert(
      fc.property(code, body, (status, text) => {
        const outcome = classifySettle({ status: 'answered', code: status, body: text })
        if (outcome.status !== 'submitted') return
        expect(status >= 200 && status < 300).toBe(true)
        expect(JSON.parse(text)).toMatchObject({ success: true, transaction: outcome.transaction })
      }),
    )
  })

  it('is a refusal only with a known reason, no hash, and a status that decides something', () => {
    fc.assert(
      fc.property(code, body, (status, text) => {
        const outcome = classifySettle({ status: 'answered', code: status, body: text })
        if (outcome.status !== 'refused' || outcome.reason === 'facilitator_unauthorized') return
        expect(isDefiniteRefusal(outcome.reason)).toBe(true)
        expect(status < 300 || (status >= 400 && status < 500 && status !== 408 && status !== 429)).toBe(true)
        const fields = JSON.parse(text) as { success?: unknown; transaction?: unknown }
        expect(fields.success).not.toBe(true)
        expect(fields.transaction ?? '').toBe('')
      }),
    )
  })

  it('never breaks the reader, of verify either', () => {
    fc.assert(
      fc.property(code, body, (status, text) => {
        const outcome = classifyVerify({ status: 'answered', code: status, body: text })
        if (outcome.status === 'valid') expect(JSON.parse(text)).toMatchObject({ isValid: true })
      }),
    )
  })
})
