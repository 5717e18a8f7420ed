import { readFileSync } from 'node:fs'
import { keyStatementDigest } from '@assay/protocol/keys/key-statement'
import { expect, test } from 'vitest'
import { sha256 } from '../kernel/bytes.ts'
import { createJwsSigner } from './jws.ts'
import { keyDirectory } from './key-directory.ts'
import { verifyKeyStatement } from './key-statement.ts'
import { createFixedKeyring } from './keyring.ts'
import { createResponseSigner } from './response-signer.ts'
import { privateKeyFromSeed } from './signing-key.ts'

// The client package verifies the same file, so neither side can drift alone.
const vector = JSON.parse(readFileSync(new URL('../../../../test/vectors/signatures.json', import.meta.url), 'utf8'))
const keyring = createFixedKeyring(privateKeyFromSeed(vector.key.seed), 1_700_000_000_000)
const nowMs = vector.response.signed_at_ms
const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs, sleep: async () => {} }

test('the response, the receipt and the directory of the vectors are reproduced byte for byte', () => {
  const { status, content_type, payment_required, method, authority, path, query, body, headers } = vector.response
  const signed = createResponseSigner(keyring, { clock }).sign({
    status,
    contentType: content_type,
    paymentRequired: payment_required,
    bodySha256: sha256(body),
    method,
    authority,
    path,
    query,
  })
  expect(signed).toEqual(headers)
  const jws = createJwsSigner(keyring, { authority: vector.receipt.authority, clock })
  expect(jws.sign(vector.receipt.json)).toBe(vector.receipt.jws)
  expect(keyDirectory(keyring)).toEqual(vector.directory)
})

test('the key statement of the vectors verifies for its node and operator', async () => {
  const { message, chain_id, digest, wallet, wallet_signature, predecessor_signature } = vector.key_statement
  expect(keyStatementDigest(message, chain_id)).toBe(digest)
  const record = {
    message,
    chainId: chain_id,
    walletSignature: wallet_signature,
    predecessorSignature: predecessor_signature,
  }
  const publicKeyOf = () => vector.key.x
  expect(await verifyKeyStatement(record, { node: message.node, operator: wallet, publicKeyOf })).toBe(true)
  expect(await verifyKeyStatement(record, { node: 'https://other', operator: wallet, publicKeyOf })).toBe(false)
})
