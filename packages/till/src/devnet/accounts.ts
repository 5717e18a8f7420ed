import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { getContractAddress, keccak256, stringToHex } from 'viem'
import { signerOf } from '../chain/wallet/wallet-signer.ts'

export type DemoRole = 'operator' | 'buyer' | 'creator' | 'affiliate' | 'settler' | 'custody'

/** A funded account of the embedded chains. Its key is public knowledge and must never be trusted elsewhere. */
export type DemoAccount = { role: DemoRole; address: Address; privateKey: Hex }

const roles: readonly DemoRole[] = ['operator', 'buyer', 'creator', 'affiliate', 'settler', 'custody']

/** The private key is keccak256 of the text `assay demo <role>`. */
export const demoAccounts: readonly DemoAccount[] = roles.map((role) => ({ role, ...demoKey(role) }))

export function demoAccount(role: DemoRole): DemoAccount {
  return demoAccounts[roles.indexOf(role)] as DemoAccount
}

/**
 * Owner of the test dollar of one chain. A key per chain, for the address of a contract follows from its creator:
 * so the two dollars differ, and neither can be mistaken for the real one.
 */
export function demoIssuer(chainId: number): { address: Address; privateKey: Hex } {
  return demoKey(`issuer ${chainId}`)
}

const settlerName = (place: number) => (place === 0 ? 'settler' : `settler ${place + 1}`)

/** Private keys of wallets that settle in a demo of several processes; the first is the demo settler. */
export function demoSettlerKeys(count: number): Hex[] {
  return Array.from({ length: count }, (_, place) => keyOf(settlerName(place)))
}

/** The same with their addresses. */
export function demoSettlers(count: number): { address: Address; privateKey: Hex }[] {
  return Array.from({ length: count }, (_, place) => demoKey(settlerName(place)))
}

/** Signs moves of creators' money on the embedded chains. Holds nothing. */
export const demoMover = demoKey('mover')

const usdcAddresses = new Map<number, Address>()

/** Where the test dollar of an embedded chain lives: never the address of a real USDC. */
export function demoUsdcAddress(chainId: number): Address {
  const known = usdcAddresses.get(chainId)
  if (known !== undefined) return known
  const created = getContractAddress({ from: demoIssuer(chainId).address, nonce: 0n }).toLowerCase() as Address
  usdcAddresses.set(chainId, created)
  return created
}

function keyOf(name: string): Hex {
  return keccak256(stringToHex(`assay demo ${name}`))
}

function demoKey(name: string): { address: Address; privateKey: Hex } {
  const privateKey = keyOf(name)
  return { address: signerOf(privateKey).address, privateKey }
}
