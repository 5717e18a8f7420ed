import { type Hex, toHex } from '@assay/protocol/bytes'
import { keccak256 } from '../kernel/keccak.ts'

/** EIP-712 domain of everything signed for this node; the salt names it, so a signature is worthless at any other. */
export type NodeDomain = { name: 'Assay'; version: '1'; chainId: number; salt: Hex }

export function nodeDomain(node: string, chainId: number): NodeDomain {
  return { name: 'Assay', version: '1', chainId, salt: toHex(keccak256(Buffer.from(node))) }
}
