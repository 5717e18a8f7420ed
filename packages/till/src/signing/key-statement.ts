import { hashTypedData } from 'viem'
import type { Address } from '../kernel/address.ts'
import { fromHex, type Hex, isHex } from '../kernel/bytes.ts'
import { recoverAddress } from '../kernel/secp256k1.ts'
import { nodeDomain } from './node-domain.ts'
import { verifyEd25519 } from './signing-key.ts'

/** What the operator's wallet says about a signing key. Times are unix seconds, 0 for open-ended. */
export type KeyStatementMessage = {
  action: 'add' | 'rotate' | 'revoke'
  keyId: string
  /** base64url of the 32 public bytes. */
  publicKey: string
  notBefore: number
  /** For `revoke`: signatures created after this second are not valid. */
  notAfter: number
  /** Base URL of the node, so that the statement is worthless for any other. */
  node: string
}

export type KeyStatementRecord = {
  message: KeyStatementMessage
  chainId: number
  wallet: Address
  walletSignature: Hex
  /** The old key's own word for its successor. */
  predecessor?: { keyId: string; signature: string }
}

const types = {
  KeyStatement: [
    { name: 'action', type: 'string' },
    { name: 'keyId', type: 'string' },
    { name: 'publicKey', type: 'string' },
    { name: 'notBefore', type: 'uint64' },
    { name: 'notAfter', type: 'uint64' },
    { name: 'node', type: 'string' },
  ],
} as const

/** EIP-712 data as wallets take it. */
export function keyStatementTypedData(message: KeyStatementMessage, chainId: number) {
  return {
    domain: nodeDomain(message.node, chainId),
    types,
    primaryType: 'KeyStatement',
    message: { ...message, notBefore: BigInt(message.notBefore), notAfter: BigInt(message.notAfter) },
  } as const
}

export type KeyStatementTypedData = ReturnType<typeof keyStatementTypedData>

/** The operator's wallet: a viem account, a hardware wallet, or a person who pastes a signature. */
export type StatementWallet = { address: Address; signTypedData(data: KeyStatementTypedData): Promise<Hex> }

export function keyStatementDigest(message: KeyStatementMessage, chainId: number): Hex {
  return hashTypedData(keyStatementTypedData(message, chainId))
}

/** What the old key signs: prefixed, so that it can never be read as a response or a receipt. */
export function predecessorBytes(message: KeyStatementMessage, chainId: number): Buffer {
  return Buffer.from(`assay key statement ${keyStatementDigest(message, chainId)}`)
}

/** Contract wallets of operators are checked by whoever can read the chain. */
export type StatementChecker = (input: { address: Address; digest: Hex; signature: Hex }) => Promise<boolean>

export type VerifyKeyStatementOptions = {
  node: string
  operator: Address
  /** x of the predecessor's key, when the statement names one. */
  publicKeyOf(keyId: string): string | undefined
  checkContract?: StatementChecker
}

/** True when the operator's wallet, and the old key where named, stand behind the statement for this node. */
export async function verifyKeyStatement(
  record: KeyStatementRecord,
  options: VerifyKeyStatementOptions,
): Promise<boolean> {
  const { message, chainId, walletSignature, predecessor } = record
  const operator = options.operator.toLowerCase() as Address
  if (message.node !== options.node || record.wallet.toLowerCase() !== operator) return false
  if (!isHex(walletSignature)) return false
  if (predecessor !== undefined) {
    const x = options.publicKeyOf(predecessor.keyId)
    const signature = Buffer.from(predecessor.signature, 'base64url')
    if (x === undefined || !verifyEd25519(x, predecessorBytes(message, chainId), signature)) return false
  }
  const digest = keyStatementDigest(message, chainId)
  if (recoverAddress(fromHex(digest), fromHex(walletSignature)) === operator) return true
  return (await options.checkContract?.({ address: operator, digest, signature: walletSignature })) ?? false
}
