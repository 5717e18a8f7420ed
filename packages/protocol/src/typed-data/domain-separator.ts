import type { Address } from '../address.ts'
import { concatBytes, utf8 } from '../bytes.ts'
import { type Hash, keccak256 } from '../hash.ts'
import { addressWord, uintWord } from './words.ts'

export type ContractDomain = { name: string; version: string; chainId: number; address: Address }

const domainType = 'EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)'

/** The EIP-712 domain separator of a contract such as USDC; compute it once per contract. */
export function domainSeparator(domain: ContractDomain, keccak: Hash = keccak256): Uint8Array {
  return keccak(
    concatBytes(
      keccak(utf8(domainType)),
      keccak(utf8(domain.name)),
      keccak(utf8(domain.version)),
      uintWord(domain.chainId),
      addressWord(domain.address),
    ),
  )
}
