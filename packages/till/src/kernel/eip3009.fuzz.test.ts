import type { Address } from '@assay/protocol/address'
import { type Hex, toHex } from '@assay/protocol/bytes'
import { authorizationTypes } from '@assay/protocol/typed-data/transfer-authorization'
import fc from 'fast-check'
import { domainSeparator, hashTypedData } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { fromHex } from './bytes.ts'
import { hashTransferAuthorization, usdcDomainSeparator } from './eip3009.ts'
import { recoverAddress } from './secp256k1.ts'

const hexOf = (length: number) =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((bytes) => toHex(bytes) as Address)
const uint256 = fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 64n }), fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }))

test('authorization digests and domain separators equal those of viem', () => {
  fc.assert(
    fc.property(
      fc.record({ name: fc.string(), version: fc.string({ minLength: 1 }), chainId: fc.nat(), address: hexOf(20) }),
      fc.record({
        from: hexOf(20),
        to: hexOf(20),
        value: uint256,
        validAfter: uint256,
        validBefore: uint256,
        nonce: hexOf(32),
      }),
      ({ address, ...rest }, message) => {
        const domain = { ...rest, verifyingContract: address }
        const separator = usdcDomainSeparator({ ...rest, address })
        expect(toHex(separator)).toBe(domainSeparator({ domain }))
        expect(toHex(hashTransferAuthorization(separator, message))).toBe(
          hashTypedData({ domain, types: authorizationTypes, primaryType: 'TransferWithAuthorization', message }),
        )
      },
    ),
    { numRuns: 60 },
  )
})

test('a message of wrong shape throws instead of hashing bytes of an earlier one', () => {
  const good = {
    from: `0x${'11'.repeat(20)}` as Address,
    to: `0x${'22'.repeat(20)}` as Address,
    value: 1n,
    validAfter: 0n,
    validBefore: 2n,
    nonce: `0x${'33'.repeat(32)}` as Hex,
  }
  const separator = Buffer.alloc(32)
  for (const bad of [
    { from: '0x11' as Address },
    { to: `0x${'zz'.repeat(20)}` as Address },
    { nonce: '0x' as Hex },
    { value: -1n },
    { value: 2n ** 256n },
  ])
    expect(() => hashTransferAuthorization(separator, { ...good, ...bad })).toThrow(RangeError)
})

test('the signer is recovered, and high s, odd v and wrong lengths are refused', async () => {
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
  const account = privateKeyToAccount(`0x${'0b'.repeat(32)}`)
  const digest = Buffer.alloc(32, 9)
  const signature = fromHex(await account.sign({ hash: toHex(digest) }))
  expect(recoverAddress(digest, signature)).toBe(account.address.toLowerCase())

  const s = BigInt(toHex(signature.subarray(32, 64)))
  const highS = Buffer.concat([
    signature.subarray(0, 32),
    Buffer.from((order - s).toString(16).padStart(64, '0'), 'hex'),
    Buffer.of((signature[64] ?? 0) ^ 7),
  ])
  expect([27, 28]).toContain(highS[64])
  expect(recoverAddress(digest, highS)).toBeUndefined()

  const zeroOne = Buffer.from(signature)
  zeroOne[64] = (signature[64] ?? 0) - 27
  expect(recoverAddress(digest, zeroOne)).toBeUndefined()
  expect(recoverAddress(digest, zeroOne, { allowZeroOne: true })).toBe(account.address.toLowerCase())
  expect(recoverAddress(digest, signature.subarray(0, 64))).toBeUndefined()
  expect(recoverAddress(digest.subarray(1), signature)).toBeUndefined()
})

test('any bytes give an address or undefined, never an exception', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 31, maxLength: 33 }),
      fc.uint8Array({ minLength: 64, maxLength: 66 }),
      fc.constantFrom(0, 1, 26, 27, 28, 29, 255),
      (digest, bytes, v) => {
        if (bytes.length === 65) bytes[64] = v
        const address = recoverAddress(digest, bytes)
        return address === undefined || /^0x[0-9a-f]{40}$/.test(address)
      },
    ),
  )
  for (const edge of [0x00, 0xff]) {
    const bytes = Buffer.alloc(65, edge)
    bytes[64] = 27
    expect(recoverAddress(Buffer.alloc(32), bytes)).toBeUndefined()
  }
})
