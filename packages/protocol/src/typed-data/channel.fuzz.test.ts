import { computeChannelId } from '@x402/evm/batch-settlement/client'
import fc from 'fast-check'
import { encodeAbiParameters, hashTypedData, keccak256 } from 'viem'
import { expect, test } from 'vitest'
import type { Address } from '../address.ts'
import { type Hex, toHex } from '../bytes.ts'
import { channelContract, createChannelHashes, depositNonce } from './channel.ts'

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length }).map(toHex)
const address = bytes(20) as fc.Arbitrary<Address>
const config = fc.record({
  ...{ payer: address, payerAuthorizer: address, receiver: address, receiverAuthorizer: address, token: address },
  withdrawDelay: fc.integer({ min: 900, max: 2_592_000 }),
  salt: bytes(32) as fc.Arbitrary<Hex>,
})
const chainId = fc.integer({ min: 1, max: 2 ** 31 })
const uint128 = fc.bigInt({ min: 0n, max: 2n ** 128n - 1n })

test('a channel has the id that the stock client computes', () => {
  fc.assert(
    fc.property(config, chainId, (made, chain) => {
      expect(createChannelHashes(chain).channelId(made)).toBe(computeChannelId(made, chain))
    }),
  )
})

test('a voucher has the digest of EIP-712', () => {
  fc.assert(
    fc.property(bytes(32), uint128, chainId, (channelId, max, chain) => {
      const expected = hashTypedData({
        domain: { name: 'x402 Batch Settlement', version: '1', chainId: chain, verifyingContract: channelContract },
        types: {
          Voucher: [
            { name: 'channelId', type: 'bytes32' },
            { name: 'maxClaimableAmount', type: 'uint128' },
          ],
        },
        primaryType: 'Voucher',
        message: { channelId, maxClaimableAmount: max },
      })
      expect(toHex(createChannelHashes(chain).voucherDigest(channelId, max))).toBe(expected)
    }),
  )
})

test('the nonce of a deposit is the hash of channel and salt', () => {
  fc.assert(
    fc.property(bytes(32), fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), (channelId, salt) => {
      const encoded = encodeAbiParameters([{ type: 'bytes32' }, { type: 'uint256' }], [channelId, salt])
      expect(depositNonce(channelId, salt)).toBe(keccak256(encoded))
    }),
  )
})
