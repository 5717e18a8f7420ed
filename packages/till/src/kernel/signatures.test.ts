import type { Address } from '@assay/protocol/address'
import { type Hex, toHex } from '@assay/protocol/bytes'
import { hashTypedData } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { fromHex } from './bytes.ts'
import { hashReceiveAuthorization, hashTransferAuthorization, usdcDomainSeparator } from './eip3009.ts'
import { cryptoBackend, recoverAddress, signDigest } from './secp256k1.ts'

const secret = Buffer.alloc(32, 0x0b)
const owner = privateKeyToAccount(toHex(secret)).address.toLowerCase()
const digest = Buffer.alloc(32, 9)

/** One signature for each of the two recovery ids. */
function signaturesOfBoth(): Map<number, { digest: Buffer; signature: Uint8Array }> {
  const found = new Map<number, { digest: Buffer; signature: Uint8Array }>()
  for (let fill = 1; found.size < 2; fill += 1) {
    const one = Buffer.alloc(32, fill)
    const { signature, recoveryId } = signDigest(one, secret)
    found.set(recoveryId, { digest: one, signature })
  }
  return found
}

test('a digest signed here is recovered here, whichever the recovery id', () => {
  for (const [recoveryId, { digest: signed, signature }] of signaturesOfBoth()) {
    expect(signature.length).toBe(64)
    const withV = (v: number) => Buffer.concat([signature, Buffer.of(v)])
    expect(recoverAddress(signed, withV(27 + recoveryId))).toBe(owner)
    expect(recoverAddress(signed, withV(28 - recoveryId))).not.toBe(owner)
    expect(recoverAddress(signed, withV(recoveryId), { allowZeroOne: true })).toBe(owner)
    for (const v of [2, 26, 29, 255]) expect(recoverAddress(signed, withV(v), { allowZeroOne: true })).toBeUndefined()
    for (const options of [{}, { allowZeroOne: false }])
      expect(recoverAddress(signed, withV(recoveryId), options)).toBeUndefined()
  }
  expect(['native', 'wasm']).toContain(cryptoBackend())
})

test('a signature or digest of another length is none', () => {
  const { signature, recoveryId } = signDigest(digest, secret)
  const whole = Buffer.concat([signature, Buffer.of(27 + recoveryId)])
  expect(recoverAddress(digest, whole)).toBe(owner)
  expect(recoverAddress(digest, Buffer.concat([whole, Buffer.of(0)]))).toBeUndefined()
  expect(recoverAddress(Buffer.concat([digest, Buffer.of(0)]), whole)).toBeUndefined()
  expect(recoverAddress(digest.subarray(0, 31), whole)).toBeUndefined()
})

test('s may be half of the order and not one more', () => {
  const half = '7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0'
  const { signature } = signDigest(digest, secret)
  const withS = (s: string) => Buffer.concat([signature.subarray(0, 32), Buffer.from(s, 'hex'), Buffer.of(27)])
  expect(recoverAddress(digest, withS(half))).toMatch(/^0x[0-9a-f]{40}$/)
  expect(recoverAddress(digest, withS(`${half.slice(0, -1)}1`))).toBeUndefined()
})

const domain = { name: 'USD Coin', version: '2', chainId: 8_453, address: `0x${'44'.repeat(20)}` as Address }
const message = {
  from: `0x${'11'.repeat(20)}` as Address,
  to: `0x${'22'.repeat(20)}` as Address,
  value: 1n,
  validAfter: 2n ** 64n - 1n,
  validBefore: 2n ** 64n,
  nonce: `0x${'33'.repeat(32)}` as Hex,
}
const fields = [
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'validAfter', type: 'uint256' },
  { name: 'validBefore', type: 'uint256' },
  { name: 'nonce', type: 'bytes32' },
]
const byViem = (primaryType: string) =>
  hashTypedData({
    domain: { name: domain.name, version: domain.version, chainId: domain.chainId, verifyingContract: domain.address },
    types: { [primaryType]: fields },
    primaryType,
    message,
  })

test('money pulled by its recipient is signed under another name than money sent, also after a wrong one', () => {
  const separator = usdcDomainSeparator(domain)
  const [sent, pulled] = [byViem('TransferWithAuthorization'), byViem('ReceiveWithAuthorization')]
  expect(toHex(hashTransferAuthorization(separator, message))).toBe(sent)
  expect(toHex(hashReceiveAuthorization(separator, message))).toBe(pulled)
  expect(toHex(hashTransferAuthorization(separator, message))).toBe(sent)
  expect(() => hashReceiveAuthorization(separator, { ...message, nonce: '0x' })).toThrow(RangeError)
  expect(toHex(hashTransferAuthorization(separator, message))).toBe(sent)
})

test('an amount that fits in no word is refused by name, and the largest that fits is not', () => {
  const hash = (value: bigint) => hashTransferAuthorization(Buffer.alloc(32), { ...message, value })
  expect(() => hash(-1n)).toThrow('a uint256 is not negative')
  expect(() => hash(2n ** 256n)).toThrow('value exceeds uint256')
  expect(hash(2n ** 256n - 1n)).not.toEqual(hash(2n ** 255n))
  expect(() => hashTransferAuthorization(Buffer.alloc(32), { ...message, from: `0x${'zz'.repeat(20)}` })).toThrow()
  expect(() => hashTransferAuthorization(Buffer.alloc(32), { ...message, nonce: `${message.nonce}00` })).toThrow()
})

test('bytes of a digest are its own', () => {
  const first = hashTransferAuthorization(Buffer.alloc(32), message)
  const copy = Buffer.from(first)
  hashTransferAuthorization(Buffer.alloc(32), { ...message, value: 2n })
  expect(first.equals(copy)).toBe(true)
  expect(fromHex(toHex(first)).equals(copy)).toBe(true)
})
