import { readFileSync } from 'node:fs'
import { decodePaymentSignatureHeader } from '@x402/core/http'
import { authorizationTypes } from '@x402/evm'
import {
  concat,
  encodeAbiParameters,
  type Hex,
  hashDomain,
  hashTypedData,
  keccak256,
  parseAbiParameters,
  recoverAddress,
  sha256,
  slice,
  toHex,
} from 'viem'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { evaluate, makeVectors, type Vectors, vectorsSchema } from './vectors/payments.ts'

const read = (name: string) => JSON.parse(readFileSync(new URL(`vectors/${name}`, import.meta.url), 'utf8'))
const vectors: Vectors = vectorsSchema.parse(read('payments.json'))
const named = (id: string) => vectors.payments.find((one) => one.id === id)

test('the vectors are what npm run vectors writes, and fit their schema', async () => {
  expect(await makeVectors()).toEqual(vectors)
  expect(z.toJSONSchema(vectorsSchema)).toEqual(read('payments.schema.json'))
})

test('our own code agrees with each, and refuses what is not honest', () => {
  for (const { id, header, ...expected } of vectors.payments) expect(evaluate(header), id).toEqual(expected)
  const good = vectors.payments.filter(({ verify }) => verify?.status === 'valid').map(({ id }) => id)
  expect(good).toEqual(['honest', 'bound-to-this-request', 'expires-in-12-seconds'])
})

test('the stock packages read the same payment and find the same digest and signer', async () => {
  const { name, version, chain_id: chainId, verifying_contract: verifyingContract } = vectors.domain
  const domain = { name, version, chainId, verifyingContract: verifyingContract as Hex }
  const types = { EIP712Domain: [...domainFields] }
  expect(hashDomain({ domain: { ...domain, chainId: BigInt(chainId) }, types })).toBe(vectors.domain_separator)
  for (const { id, header, digest, signer } of vectors.payments.filter((one) => one.digest)) {
    const { payload } = decodePaymentSignatureHeader(header) as unknown as { payload: Signed }
    const { from, to, value, validAfter, validBefore, nonce } = payload.authorization
    const hash = hashTypedData({
      ...{ domain, types: authorizationTypes, primaryType: 'TransferWithAuthorization' },
      message: {
        ...{ from: from as Hex, to: to as Hex, value: BigInt(value), nonce: nonce as Hex },
        ...{ validAfter: BigInt(validAfter), validBefore: BigInt(validBefore) },
      },
    })
    expect(hash, id).toBe(digest)
    expect((await recoverAddress({ hash, signature: payload.signature })).toLowerCase(), id).toBe(signer)
  }
})

test('request bindings follow from their definition', () => {
  const tag = slice(keccak256(toHex('assay:request-binding:v1')), 0, 8)
  for (const { method, resource, content_type, body, body_sha256, salt, nonce } of vectors.bindings) {
    expect(sha256(toHex(body))).toBe(body_sha256)
    const parts = encodeAbiParameters(parseAbiParameters('uint256, string, string, string, bytes32, bytes32'), [
      ...([1n, method, resource, content_type] as const),
      ...([body_sha256 as Hex, salt as Hex] as const),
    ])
    expect(concat([tag, slice(keccak256(parts), 0, 24)])).toBe(nonce)
  }
})

test('a changed vector is noticed', () => {
  const { header = '', ...expected } = named('one-unit-less') ?? {}
  expect(evaluate(header)).not.toEqual({ ...expected, match: { status: 'ok' } })
})

type Signed = {
  signature: Hex
  authorization: Record<'from' | 'to' | 'value' | 'validAfter' | 'validBefore' | 'nonce', string>
}

const domainFields = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
] as const
