import { fromBase64, fromBase64url, toBase64 } from '@assay/protocol/base64'
import { parseEvidence } from '@assay/protocol/evidence/evidence-file'
import { decodeHeader, encodeHeader } from '@assay/protocol/json-object'
import { readDirectory } from '@assay/protocol/keys/key-directory'
import { formatUsd, parseMicro, parseUsd } from '@assay/protocol/money'
import { parseResponseSignatureInput } from '@assay/protocol/signatures/signature-input'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { AssayError } from './errors.ts'
import { parsePaymentRequired } from './payment-required.ts'
import { readChallenge } from './sign-in.ts'

test('bytes, headers and money survive the round trip', () => {
  fc.assert(
    fc.property(
      fc.uint8Array(),
      (bytes) => toBase64(fromBase64(toBase64(bytes)) ?? bytes) === Buffer.from(bytes).toString('base64'),
    ),
  )
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.string()), (object) => {
      expect(decodeHeader(encodeHeader(object), 100_000)).toEqual(JSON.parse(JSON.stringify(object)))
    }),
  )
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 17n }), (micro) => {
      expect(parseUsd(formatUsd(micro))).toBe(micro)
      expect(parseMicro(micro.toString())).toBe(micro)
    }),
  )
})

test('any text gives a value, undefined or our own error, and never another exception', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.base64String()), (text) => {
      for (const parse of [fromBase64, fromBase64url, parseUsd, parseMicro, parseResponseSignatureInput])
        expect(() => parse(text)).not.toThrow()
      try {
        parsePaymentRequired(text)
      } catch (error) {
        expect(error).toBeInstanceOf(AssayError)
      }
    }),
  )
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(Array.isArray(readDirectory(value).keys)).toBe(true)
      expect(parseEvidence(value)).toBeUndefined()
      expect(() => readChallenge(value)).not.toThrow()
    }),
  )
  // Almost right is as wrong: one part of an evidence file replaced by anything.
  const part = fc.constantFrom('request', 'response', 'keys', 'payment', 'receipt', 'saved_at')
  const whole = {
    format: 'assay-evidence',
    version: 1,
    saved_at: '',
    request: {},
    response: {},
    keys: {},
    payment: null,
  }
  fc.assert(
    fc.property(part, fc.jsonValue(), (name, value) => {
      expect(parseEvidence({ ...whole, receipt: null, [name]: value })).toBeUndefined()
    }),
  )
})

test('amounts with a point, exponent, sign or other digits are no atomic amounts', () => {
  for (const bad of ['0.001', '1e3', '-1', '+1', '01', '', ' 1', '٣', '1_000', '1234567890123456789'])
    expect(parseMicro(bad), bad).toBeUndefined()
})
