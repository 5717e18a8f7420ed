import type { Address } from '../address.ts'
import type { Hex } from '../bytes.ts'

/** The message of EIP-3009's `transferWithAuthorization`; times are unix seconds. */
export type TransferAuthorization = {
  from: Address
  to: Address
  value: bigint
  validAfter: bigint
  validBefore: bigint
  nonce: Hex
}

const fields = [
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'validAfter', type: 'uint256' },
  { name: 'validBefore', type: 'uint256' },
  { name: 'nonce', type: 'bytes32' },
] as const

export const authorizationTypes = { TransferWithAuthorization: fields } as const

/** Only the recipient itself can use it: a contract that pulls money. */
export const receiveTypes = { ReceiveWithAuthorization: fields } as const
