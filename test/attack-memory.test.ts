import { expect, test } from 'vitest'
import { createSignatureCache } from '../packages/till/src/signing/signature-cache.ts'
import type { PrivateSigningKey } from '../packages/till/src/signing/signing-key.ts'

test('signatures of long targets, which a stranger can make without end, are not remembered', () => {
  const cache = createSignatureCache({ shareMs: 5_000, entriesMax: 4_096 })
  const key = {} as PrivateSigningKey
  const headers = { 'signature-input': 'x', signature: 'y' }
  const answer = (query: string) => ({
    status: 404,
    contentType: 'application/problem+json',
    bodySha256: new Uint8Array(32),
    method: 'GET',
    authority: 'localhost',
    path: '/nothing',
    query,
  })
  for (const query of ['?short', `?${'a'.repeat(8_000)}`]) cache.keep(answer(query), key, 0, headers)
  expect(cache.find(answer('?short'), key, 1)).toBe(headers)
  expect(cache.find(answer(`?${'a'.repeat(8_000)}`), key, 1)).toBeUndefined()
})
