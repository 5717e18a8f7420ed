import { type Address, hasChecksum, parseAddress, zeroAddress } from '@assay/protocol/address'
import type { Network } from './chain/index.ts'
import { type KeySource, signerOf } from './chain/wallet/index.ts'
import { demoAccounts, demoSettlerKeys } from './devnet/accounts.ts'

const demoAddresses = new Set<string>(demoAccounts.map(({ address }) => address))
const demoKeys = new Set<string>([...demoAccounts.map(({ privateKey }) => privateKey), ...demoSettlerKeys(64)])

/** An address that is paid; money sent to a wrong one is gone. */
export function readWallet(
  name: string,
  text: string | undefined,
  { usdc, dollars = [] }: Network,
  demo: boolean,
  problems: string[],
): Address | undefined {
  if (text === undefined || text === '') {
    problems.push(`${name}: missing, the address that is paid`)
    return undefined
  }
  const address = parseAddress(text)
  if (address === undefined || !hasChecksum(text)) problems.push(`${name}: must be an address with its EIP-55 checksum`)
  else if (address === zeroAddress) problems.push(`${name}: is the zero address, which nobody has; give your own`)
  else if ([usdc, ...dollars].some((token) => token.address.toLowerCase() === address))
    problems.push(`${name}: is the address of the token itself; give that of your wallet`)
  else if (!demo && demoAddresses.has(address))
    problems.push(`${name}: is a demo account, whose key everybody has; give your own`)
  return address
}

/** None of them is repeated in a problem. */
export function findKeyProblems(name: string, keys: readonly KeySource[], demo: boolean): string[] {
  const written = keys.filter((key) => typeof key === 'string')
  if (!written.every(isKey)) return [`${name}: each must be a private key, 0x and 64 hex digits, or a signer`]
  if (demo || !written.some((key) => demoKeys.has(key.toLowerCase()))) return []
  return [`${name}: contains a demo key, which everybody has; make one of your own`]
}

function isKey(key: KeySource): boolean {
  try {
    return signerOf(key).address !== zeroAddress
  } catch {
    return false
  }
}
