import { tryCanonicalJson } from '../canonical-json.ts'

/** What an agent says of itself, signed once by its wallet and good at every node. */
export type SignedDeclaration<T = Record<string, unknown>> = {
  type: 'x402-agent-declaration'
  /** CAIP-10; the chain matters for contract wallets (ERC-1271). */
  account: string
  /** A time in milliseconds; a greater one replaces a smaller one. */
  sequence: number
  declaration: T
  signature: string
}

export const declarationCharsMax = 49_152
/** A declaration that was not renewed for so long is not taken any more. */
export const declarationMs = 90 * 86_400_000

/** The text that the wallet signs (EIP-191). */
export function declarationMessage(declared: Omit<SignedDeclaration, 'signature'>): string {
  return `x402 agent declaration\n${tryCanonicalJson(declared) ?? ''}`
}
