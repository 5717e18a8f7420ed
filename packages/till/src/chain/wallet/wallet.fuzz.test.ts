import type { Address } from '@assay/protocol/address'
import { type Hex, toHex } from '@assay/protocol/bytes'
import fc from 'fast-check'
import {
  decodeFunctionData,
  encodeFunctionData,
  encodeFunctionResult,
  parseAbi,
  parseTransaction,
  recoverTransactionAddress,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { describe, expect, it } from 'vitest'
import { aggregate3Call, readAggregate3, transferCall } from './authorization-calls.ts'
import { bumpFees, feesFor } from './fees.ts'
import { createWalletKey } from './wallet-key.ts'

const bytes = (min: number, max = min) => fc.uint8Array({ minLength: min, maxLength: max }).map((array) => toHex(array))
const uint = (bits: number) => fc.bigInt({ min: 0n, max: 2n ** BigInt(bits) - 1n })
const address = bytes(20) as fc.Arbitrary<Address>

describe('fees', () => {
  it('a replacement offers an eighth more of both, never a tip above the whole, or is not made at all', () => {
    const ceiling = 2n ** 60n
    fc.assert(
      fc.property(uint(64), uint(64), uint(64), uint(64), uint(48), (base, tip, laterBase, laterTip, floor) => {
        const network = { priorityFeeWeiMin: floor, priorityFeeWeiMax: ceiling, maxFeeWeiMax: ceiling }
        const first = feesFor(network, { baseFeeWei: base, suggestedTipWei: tip })
        const next = bumpFees(network, first, feesFor(network, { baseFeeWei: laterBase, suggestedTipWei: laterTip }))
        expect(first.maxPriorityFeePerGas >= floor).toBe(true)
        for (const offer of [first, next ?? first]) {
          expect(offer.maxFeePerGas <= ceiling).toBe(true)
          expect(offer.maxPriorityFeePerGas <= ceiling).toBe(true)
        }
        if (!next) return
        for (const fee of ['maxFeePerGas', 'maxPriorityFeePerGas'] as const)
          expect(next[fee] * 1_000n >= first[fee] * 1_125n).toBe(true)
        expect(next.maxFeePerGas >= next.maxPriorityFeePerGas).toBe(true)
      }),
    )
  })
})

describe('signed transactions', () => {
  it('are the bytes that an independent library makes of the same transaction', async () => {
    const transaction = fc.record({
      chainId: fc.constantFrom(137, 8453, 1),
      nonce: uint(40),
      gasLimit: uint(40),
      to: address,
      value: uint(80),
      data: bytes(0, 300),
      maxFeePerGas: uint(60),
    })
    await fc.assert(
      fc.asyncProperty(bytes(32), transaction, async (privateKey, one) => {
        fc.pre(BigInt(privateKey) > 0n && BigInt(privateKey) < 2n ** 255n)
        const key = createWalletKey(privateKey)
        const signed = await key.sign({ ...one, maxPriorityFeePerGas: one.maxFeePerGas / 3n })
        const { gasLimit, nonce, ...rest } = one
        const account = privateKeyToAccount(privateKey)
        const other = await account.signTransaction({
          ...rest,
          type: 'eip1559',
          gas: gasLimit,
          nonce: Number(nonce),
          maxPriorityFeePerGas: one.maxFeePerGas / 3n,
        })
        expect(key.address).toBe(account.address.toLowerCase())
        expect(parseTransaction(signed.raw)).toEqual(parseTransaction(other))
        expect(
          (await recoverTransactionAddress({ serializedTransaction: signed.raw as `0x02${string}` })).toLowerCase(),
        ).toBe(key.address)
      }),
      { numRuns: 25 },
    )
  })

  it('refuses keys that are none', () => {
    for (const bad of ['0x', '0x00', `0x${'0'.repeat(64)}`, `0x${'f'.repeat(64)}`, 'secret'] as Hex[])
      expect(() => createWalletKey(bad)).toThrow()
  })
})

const usdcAbi = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
])
const multicallAbi = parseAbi([
  'function aggregate3((address target, bool allowFailure, bytes callData)[] calls) payable returns ((bool success, bytes returnData)[] returnData)',
])
const authorization = fc.record({
  from: address,
  to: address,
  value: uint(256),
  validAfter: uint(256),
  validBefore: uint(256),
  nonce: bytes(32),
})

describe('calldata', () => {
  it('of a transfer with a 65-byte signature is the overload with v, r and s', () => {
    fc.assert(
      fc.property(authorization, bytes(65), (one, signature) => {
        const { from, to, value, validAfter, validBefore, nonce } = one
        const [r, s, v] = [
          `0x${signature.slice(2, 66)}`,
          `0x${signature.slice(66, 130)}`,
          Number(`0x${signature.slice(130)}`),
        ] as [Hex, Hex, number]
        const args = [from, to, value, validAfter, validBefore, nonce, v, r, s] as const
        expect(transferCall(one, signature)).toBe(
          encodeFunctionData({ abi: usdcAbi, functionName: 'transferWithAuthorization', args }),
        )
      }),
    )
  })

  it('of a transfer with any other signature is the overload with bytes', () => {
    fc.assert(
      fc.property(authorization, bytes(0, 400), (one, signature) => {
        fc.pre(signature.length !== 132)
        const { from, to, value, validAfter, validBefore, nonce } = one
        const args = [from, to, value, validAfter, validBefore, nonce, signature] as const
        expect(transferCall(one, signature)).toBe(
          encodeFunctionData({ abi: usdcAbi, functionName: 'transferWithAuthorization', args }),
        )
      }),
    )
  })

  it('of a multicall is what the ABI says', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ target: address, data: bytes(0, 100) }), { maxLength: 12 }), (calls) => {
        const data = aggregate3Call(calls)
        const args = [calls.map(({ target, data: callData }) => ({ target, allowFailure: true, callData }))] as const
        expect(data).toBe(encodeFunctionData({ abi: multicallAbi, functionName: 'aggregate3', args }))
        expect(decodeFunctionData({ abi: multicallAbi, data }).functionName).toBe('aggregate3')
      }),
    )
  })
})

describe('the answer of a multicall', () => {
  it('reads back what was encoded', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ success: fc.boolean(), returnData: bytes(0, 120) }), { maxLength: 10 }),
        (results) => {
          const answer = encodeFunctionResult({ abi: multicallAbi, functionName: 'aggregate3', result: results })
          expect(readAggregate3(answer, results.length)).toEqual(results)
          expect(readAggregate3(answer, results.length + 1)).toBeUndefined()
        },
      ),
    )
  })

  it('is undefined for nonsense, and never an exception', () => {
    const words = fc.array(
      fc.oneof(
        bytes(32),
        uint(12).map((n) => `0x${n.toString(16).padStart(64, '0')}`),
      ),
      { maxLength: 12 },
    )
    fc.assert(
      fc.property(words, fc.nat(4), (parts, count) => {
        const results = readAggregate3(`0x${parts.map((part) => part.slice(2)).join('')}`, count)
        expect(results === undefined || results.length === count).toBe(true)
      }),
    )
    for (const bad of [undefined, null, '', '0x', '0x12', 7, {}]) expect(readAggregate3(bad, 1)).toBeUndefined()
  })
})
