import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { concatHex, encodeAbiParameters, keccak256, sliceHex } from 'viem'
import { expect, test } from 'vitest'
import { anyText } from './any-text.fixture.ts'
import { type Hex, toHex, utf8 } from './bytes.ts'
import { sha256 } from './hash.ts'
import { bindingContentType, bindingNonce, bindingTag, isTaggedNonce } from './request-binding.ts'

const file = new URL('../../../test/vectors/request-binding.json', import.meta.url)

test('the nonces of the vectors are reproduced', () => {
  const { tag, vectors } = JSON.parse(readFileSync(file, 'utf8'))
  expect(bindingTag).toBe(tag)
  for (const { method, resource, content_type, body, body_sha256, salt, nonce } of vectors) {
    expect(toHex(sha256(utf8(body)))).toBe(body_sha256)
    const parts = { method, resource, contentType: content_type, bodyDigest: sha256(utf8(body)), salt }
    expect(bindingNonce(parts)).toBe(nonce)
    expect(isTaggedNonce(nonce)).toBe(true)
  }
})

const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 })
const shape = ['uint256', 'string', 'string', 'string', 'bytes32', 'bytes32'].map((type) => ({ type }))

test('the encoding is the one of Solidity, for any text', () => {
  const text = anyText({ maxLength: 100 })
  fc.assert(
    fc.property(text, text, text, bytes32, bytes32, (method, resource, contentType, bodyDigest, salt) => {
      const encoded = encodeAbiParameters(shape, [1n, method, resource, contentType, toHex(bodyDigest), toHex(salt)])
      expect(bindingNonce({ method, resource, contentType, bodyDigest, salt: toHex(salt) })).toBe(
        concatHex([bindingTag, sliceHex(keccak256(encoded), 0, 24)]),
      )
    }),
    { numRuns: 60 },
  )
})

test('random nonces are not taken for bound ones, and any text gives an answer', () => {
  fc.assert(fc.property(bytes32, (bytes) => !isTaggedNonce(toHex(bytes))))
  fc.assert(fc.property(fc.string(), (text) => isTaggedNonce(text as Hex) === false))
})

test('the media type is compared without case and parameters', () => {
  expect(bindingContentType('Application/JSON; charset=utf-8')).toBe('application/json')
  expect(bindingContentType(undefined)).toBe('')
})

test('a binding needs a whole digest and a whole salt', () => {
  const digest = sha256(utf8('a'))
  const parts = {
    method: 'GET',
    resource: 'https://a.example/',
    contentType: '',
    bodyDigest: digest,
    salt: toHex(digest),
  }
  const nonce = bindingNonce(parts)
  expect(isTaggedNonce(nonce)).toBe(true)
  expect(isTaggedNonce(`${nonce}00`)).toBe(false)
  expect(isTaggedNonce(nonce.slice(0, -2) as Hex)).toBe(false)
  for (const wrong of [
    { bodyDigest: digest.subarray(1) },
    { salt: toHex(digest.subarray(1)) },
    { salt: toHex(new Uint8Array(33)) },
  ])
    expect(() => bindingNonce({ ...parts, ...wrong })).toThrow('digest and salt have 32 bytes')
})

test('the media type has no blanks around it', () => {
  expect(bindingContentType(' Text/Plain ;charset=utf-8;x=y')).toBe('text/plain')
  expect(bindingContentType('')).toBe('')
})
