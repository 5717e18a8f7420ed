import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { getContractAddress, keccak256, stringToHex } from 'viem'
import { signerOf } from '../chain/wallet/wallet-signer.ts'

/** An account of the embedded chains. Its key is public knowledge and must never be trusted elsewhere. */
export type DemoAccount = { role: string; address: Address; privateKey: Hex }

const known = new Map<string, DemoAccount>()

/** The private key is keccak256 of the text `assay demo <role>`. */
export function demoAccount(role: string): DemoAccount {
  const account = known.get(role) ?? { role, ...demoKey(role) }
  known.set(role, account)
  return account
}

/** Funded on every embedded chain. Further roles are given when a chain is started. */
export const demoAccounts: readonly DemoAccount[] = ['operator', 'buyer', 'settler', 'custody'].map(demoAccount)

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
