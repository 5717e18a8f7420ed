import { type Hex, toHex, utf8 } from '../bytes.ts'
import { keccak256 } from '../hash.ts'

/** EIP-712 domain of everything signed for a node; the salt names it, so a signature is worthless at any other. */
export type NodeDomain = { name: 'Assay'; version: '1'; chainId: number; salt: Hex }

export function nodeDomain(node: string, chainId: number): NodeDomain {
  return { name: 'Assay', version: '1', chainId, salt: saltOf(node) }
}

// A node asks for its own again and again.
let last: { node: string; salt: Hex } | undefined

function saltOf(node: string): Hex {
  if (last?.node !== node) last = { node, salt: toHex(keccak256(utf8(node))) }
  return last.salt
}
