import { expect, test } from 'vitest'
import { createSignatureCache } from '../packages/till/src/signing/signature-cache.ts'
import type { PrivateSigningKey } from '../packages/till/src/signing/signing-key.ts'

test('signatures of long targets, which a stranger can make without end, are not remembered', () => {
  const cache = createSignatureCache({ shareMs: 5_000, entriesMax: 4_096 })
  const key = {} as PrivateSigningKey
  const headers = { 'signature-input': 'x', signature: 'y' }
  const signing = (query: string, nowMs: number) => ({
    response: {
      status: 404,
      contentType: 'application/problem+json',
      bodySha256: new Uint8Array(32),
      method: 'GET',
      authority: 'localhost',
      path: '/nothing',
      query,
    },
    digest: 'sha-256=:AAAA:',
    key,
    nowMs,
  })
  for (const query of ['?short', `?${'a'.repeat(8_000)}`]) cache.keep(signing(query, 0), headers)
  expect(cache.find(signing('?short', 1))).toBe(headers)
  expect(cache.find(signing(`?${'a'.repeat(8_000)}`, 1))).toBeUndefined()
})
