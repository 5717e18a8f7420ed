import { getAddress } from 'viem/utils'
import type { Hex } from './bytes.ts'

/** An EVM address in the one form the database and every comparison use: lower case. */
export type Address = Hex

export const addressPattern = /^0x[0-9a-fA-F]{40}$/

export const zeroAddress: Address = '0x0000000000000000000000000000000000000000'

/** Lower-cased address, or undefined. Accepts any case: the wire may carry either. */
export function parseAddress(text: unknown): Address | undefined {
  return typeof text === 'string' && addressPattern.test(text) ? (text.toLowerCase() as Address) : undefined
}

/** The EIP-55 form, for people and for wallets that insist on it. */
export function checksumAddress(address: Address): Address {
  return getAddress(address)
}

/** True only for text that carries its own correct checksum; configuration of payees insists on it. */
export function hasChecksum(text: string): boolean {
  return addressPattern.test(text) && getAddress(text as Address) === text
}

export function sameAddress(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase()
}
