import fc from 'fast-check'
import { getAddress, hashTypedData } from 'viem'
import { expect, test } from 'vitest'
import type { Address } from '../address.ts'
import { toHex } from '../bytes.ts'
import { nonceOfPermit2Key, permit2Address, permit2Digest, permit2Key, permit2Proxies } from './permit2.ts'

const address = fc.uint8Array({ minLength: 20, maxLength: 20 }).map((bytes) => toHex(bytes) as Address)
const uint = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })
const word = (name: string, type: string) => ({ name, type })

test('the digest of a permit is that of EIP-712, for both witnesses', () => {
  const parts = fc.record({
    ...{ from: address, token: address, to: address, facilitator: address },
    ...{ amount: uint, nonce: uint, deadline: uint, validAfter: uint },
  })
  fc.assert(
    fc.property(parts, fc.constantFrom('exact', 'upto'), fc.nat(), (transfer, scheme, chainId) => {
      const { facilitator, ...rest } = transfer
      const upto = scheme === 'upto'
      const expected = hashTypedData({
        domain: { name: 'Permit2', chainId, verifyingContract: permit2Address },
        primaryType: 'PermitWitnessTransferFrom',
        types: {
          PermitWitnessTransferFrom: [
            word('permitted', 'TokenPermissions'),
            word('spender', 'address'),
            word('nonce', 'uint256'),
            word('deadline', 'uint256'),
            word('witness', 'Witness'),
          ],
          TokenPermissions: [word('token', 'address'), word('amount', 'uint256')],
          Witness: [
            word('to', 'address'),
            ...(upto ? [word('facilitator', 'address')] : []),
            word('validAfter', 'uint256'),
          ],
        },
        message: {
          permitted: { token: getAddress(rest.token), amount: rest.amount },
          spender: permit2Proxies[scheme],
          ...{ nonce: rest.nonce, deadline: rest.deadline },
          witness: { to: rest.to, facilitator, validAfter: rest.validAfter },
        },
      })
      expect(toHex(permit2Digest(scheme, chainId, upto ? transfer : rest))).toBe(expected)
    }),
  )
})

test('a key gives its nonce back, and the nonce of an EIP-3009 authorization is no key', () => {
  fc.assert(
    fc.property(uint, (nonce) => {
      expect(nonceOfPermit2Key(permit2Key(nonce))).toBe(nonce)
      expect(nonceOfPermit2Key(`0x${nonce.toString(16).padStart(64, '0')}`)).toBeUndefined()
    }),
  )
})
