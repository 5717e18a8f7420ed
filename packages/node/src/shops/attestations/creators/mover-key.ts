import type { Address } from '@assay/protocol/address'
import { type Hex, isHex, toHex } from '@assay/protocol/bytes'
import { fromHex } from '@assay/till/kernel/bytes'
import { keccak256 } from '@assay/till/kernel/keccak'
import * as curve from 'tiny-secp256k1'
import { hashTypedData } from 'viem'

export type MoveRequest = { account: Hex; wallet: Address; to: Address; validBefore: bigint }

/** Signs moves of lost wallets' money, and nothing else. Never the custody key: neither alone can move and fund. */
export type MoverKey = {
  readonly address: Address
  sign(place: { chainId: number; contract: Address }, request: MoveRequest): Hex
}

const types = {
  MoveRequest: [
    { name: 'account', type: 'bytes32' },
    { name: 'wallet', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'validBefore', type: 'uint256' },
  ],
} as const

export function createMoverKey(privateKey: Hex): MoverKey {
  if (!isHex(privateKey, 32)) throw new Error('a mover key is 32 bytes of hex')
  const secret = fromHex(privateKey)
  const publicKey = curve.isPrivate(secret) ? curve.pointFromScalar(secret, false) : null
  if (!publicKey) throw new Error('not a private key of this curve')
  return {
    address: toHex(keccak256(publicKey.subarray(1)).subarray(12)),
    sign: ({ chainId, contract }, message) => {
      const domain = { name: 'CreatorDistributor', version: '1', chainId, verifyingContract: contract }
      const digest = hashTypedData({ domain, types, primaryType: 'MoveRequest', message })
      const { signature, recoveryId } = curve.signRecoverable(fromHex(digest), secret)
      return toHex(Buffer.concat([signature, Buffer.from([27 + recoveryId])]))
    },
  }
}
