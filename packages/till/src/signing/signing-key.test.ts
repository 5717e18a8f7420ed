import { sign } from 'node:crypto'
import { didWeb } from '@assay/protocol/did'
import { signatureBase } from '@assay/protocol/signatures/signature-base'
import { expect, test } from 'vitest'
import { didDocument, didKey } from './did-document.ts'
import { createFixedKeyring } from './keyring.ts'
import { privateKeyFromSeed, verifyEd25519 } from './signing-key.ts'

// RFC 9421 B.1.4
const rfcKey = privateKeyFromSeed('n4Ni-HpISpVObnQMW0wOhCKROaIKqKtW_2ZYb2p9KcU')

test('RFC 9421 B.2.6: the request signature of the vector is reproduced', () => {
  const inner =
    '("date" "@method" "@path" "@authority" "content-type" "content-length");created=1618884473;keyid="test-key-ed25519"'
  const base = signatureBase(
    [
      { id: '"date"', value: 'Tue, 20 Apr 2021 02:07:55 GMT' },
      { id: '"@method"', value: 'POST' },
      { id: '"@path"', value: '/foo' },
      { id: '"@authority"', value: 'example.com' },
      { id: '"content-type"', value: 'application/json' },
      { id: '"content-length"', value: '18' },
    ],
    inner,
  )
  const signature = sign(null, Buffer.from(base), rfcKey.privateKey)
  expect(signature.toString('base64')).toBe(
    'wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==',
  )
  expect(verifyEd25519(rfcKey.x, Buffer.from(base), signature)).toBe(true)
})

test('RFC 7638: the thumbprint of the RFC 9421 key is the published one', () => {
  expect(rfcKey.x).toBe('JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs')
  expect(rfcKey.keyId).toBe('poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U')
})

test('did:key and did:web have their standard forms', () => {
  // RFC 8037 A.2 key, as the did:key method writes it.
  expect(didKey('11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo')).toBe(
    'did:key:z6MktwupdmLXVVqTzCw4i46r4uGyosGXRnR3XjN4Zq7oMMsw',
  )
  expect(didWeb('127.0.0.1:4020')).toBe('did:web:127.0.0.1%3A4020')
  const document = didDocument(createFixedKeyring(rfcKey, 0), 'node.example', 1)
  expect(document.assertionMethod).toEqual([`did:web:node.example#${rfcKey.keyId}`])
  expect(document.verificationMethod[0]?.publicKeyJwk.x).toBe(rfcKey.x)
})

test('malformed keys and signatures verify as false, never as an exception', () => {
  expect(verifyEd25519('short', Buffer.from('a'), Buffer.alloc(64))).toBe(false)
  expect(verifyEd25519(rfcKey.x, Buffer.from('a'), Buffer.alloc(63))).toBe(false)
  expect(verifyEd25519(rfcKey.x, Buffer.from('a'), Buffer.alloc(64))).toBe(false)
})
