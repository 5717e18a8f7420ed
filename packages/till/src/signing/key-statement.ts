import { type Address, zeroAddress } from '@assay/protocol/address'
import { type Hex, isHex } from '@assay/protocol/bytes'
import { hashTypedData } from 'viem'
import { fromHex } from '../kernel/bytes.ts'
import { recoverAddress } from '../kernel/secp256k1.ts'
import { nodeDomain } from './node-domain.ts'
import { verifyEd25519 } from './signing-key.ts'

/** What a key is for: answers and what goes with them, or the heads of the log. One never stands in for the other. */
export type KeyPurpose = 'response' | 'log'

/** What is said about a key. Times are unix seconds, 0 for open-ended. */
export type KeyStatementMessage = {
  action: 'add' | 'rotate' | 'revoke'
  purpose: KeyPurpose
  keyId: string
  /** base64url of the 32 public bytes. */
  publicKey: string
  notBefore: number
  /** For `revoke`: signatures created after this second are not valid. */
  notAfter: number
  /** Base URL of the node, so that the statement is worthless for any other. */
  node: string
  /** Name of the log, and the size of the tree beyond which its heads bear this key; empty and 0 for other keys. */
  origin: string
  treeSize: number
  /** The wallet that stands behind it; the zero address while only a key does. */
  operator: Address
  /** The key that vouches, empty for none, and when it stops signing; 0 when that is not decided here. */
  predecessor: string
  predecessorUntil: number
}

export type KeyStatementRecord = {
  message: KeyStatementMessage
  chainId: number
  walletSignature: Hex | null
  /** The old key's own word for its successor. */
  predecessorSignature: string | null
}

const types = {
  KeyStatement: [
    { name: 'action', type: 'string' },
    { name: 'purpose', type: 'string' },
    { name: 'keyId', type: 'string' },
    { name: 'publicKey', type: 'string' },
    { name: 'notBefore', type: 'uint64' },
    { name: 'notAfter', type: 'uint64' },
    { name: 'node', type: 'string' },
    { name: 'origin', type: 'string' },
    { name: 'treeSize', type: 'uint64' },
    { name: 'operator', type: 'address' },
    { name: 'predecessor', type: 'string' },
    { name: 'predecessorUntil', type: 'uint64' },
  ],
} as const

/** EIP-712 data as wallets take it. */
export function keyStatementTypedData(message: KeyStatementMessage, chainId: number) {
  return {
    domain: nodeDomain(message.node, chainId),
    types,
    primaryType: 'KeyStatement',
    message: {
      ...message,
      notBefore: BigInt(message.notBefore),
      notAfter: BigInt(message.notAfter),
      treeSize: BigInt(message.treeSize),
      predecessorUntil: BigInt(message.predecessorUntil),
    },
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
  const { message, chainId, walletSignature } = record
  const operator = options.operator.toLowerCase() as Address
  if (message.node !== options.node || message.operator.toLowerCase() !== operator) return false
  if (message.predecessor !== '' && !isSignedByPredecessor(record, options.publicKeyOf(message.predecessor)))
    return false
  if (walletSignature === null || !isHex(walletSignature) || operator === zeroAddress) return false
  const digest = keyStatementDigest(message, chainId)
  if (recoverAddress(fromHex(digest), fromHex(walletSignature)) === operator) return true
  return (await options.checkContract?.({ address: operator, digest, signature: walletSignature })) ?? false
}

export function isSignedByPredecessor(record: KeyStatementRecord, x: string | undefined): boolean {
  if (x === undefined || record.predecessorSignature === null) return false
  const signature = Buffer.from(record.predecessorSignature, 'base64url')
  return verifyEd25519(x, predecessorBytes(record.message, record.chainId), signature)
}
