import { hashTypedData, sha256 } from 'viem/utils'
import { type Address, zeroAddress } from '../address.ts'
import { fromBase64url, toBase64url } from '../base64.ts'
import { type Hex, utf8 } from '../bytes.ts'
import { verifyEd25519 } from '../ed25519.ts'
import { isRecord } from '../json-object.ts'
import { recoverSigner } from '../recover-signer.ts'
import { nodeDomain } from '../typed-data/node-domain.ts'

/** What a key is for: answers and what goes with them, or the heads of the log. One never replaces the other. */
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
  /** Base URL of its interface, which answers and records name; the same where the node has one address. */
  api: string
  /** Name of the log, and the size of the tree beyond which its heads bear this key; empty and 0 for other keys. */
  origin: string
  treeSize: number
  /** The wallet that backs it, which may name keys too; the zero address while only a key does. */
  operator: Address
  /** The key that vouches, empty for none, and when it stops signing; 0 when that is not decided here. */
  predecessor: string
  predecessorUntil: number
}

/** Signed by the key before it, by the operator's wallet, or by both. */
export type KeyStatement = {
  message: KeyStatementMessage
  chainId: number
  walletSignature: string | null
  /** The old key's signature over the statement about its successor. */
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
    { name: 'api', type: 'string' },
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

export function keyStatementDigest(message: KeyStatementMessage, chainId: number): Hex {
  return hashTypedData(keyStatementTypedData(message, chainId))
}

/** What the old key signs: prefixed, so that it can never be read as a response or a receipt. */
export function predecessorBytes(message: KeyStatementMessage, chainId: number): Uint8Array<ArrayBuffer> {
  return utf8(`assay key statement ${keyStatementDigest(message, chainId)}`)
}

/** Signed by the wallet it names, in the one form that such a signature has. A contract wallet needs its chain. */
export async function isSignedByWallet({ message, chainId, walletSignature }: KeyStatement): Promise<boolean> {
  if (walletSignature === null || message.operator === zeroAddress) return false
  return (await recoverSigner(() => keyStatementDigest(message, chainId), walletSignature)) === message.operator
}

export async function isSignedByPredecessor(
  { message, chainId, predecessorSignature }: KeyStatement,
  x: string | undefined,
): Promise<boolean> {
  const signature = fromBase64url(predecessorSignature ?? '')
  if (x === undefined || signature?.length !== 64) return false
  return verifyEd25519(x, predecessorBytes(message, chainId), signature)
}

/** A key may name its successor, and a key that signs answers the first key of the log. */
export const mayName = (purpose: KeyPurpose, { message }: KeyStatement) =>
  message.action === 'rotate' ? purpose === message.purpose : purpose === 'response' && message.purpose === 'log'

/** RFC 7638 of an Ed25519 key: sha256 over the required members of the JWK, in lexical order. */
export function thumbprint(x: string): string {
  return toBase64url(sha256(utf8(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`), 'bytes'))
}

/** A statement as directories, logs and evidence files show it. */
export type PublishedStatement = {
  action: string
  purpose: string
  key_id: string
  public_key: string
  not_before: number
  not_after: number
  node: string
  api: string
  origin: string
  tree_size: number
  chain_id: number
  wallet: string
  wallet_signature: string | null
  predecessor_key_id: string
  predecessor_until: number
  predecessor_signature: string | null
}

export function publishedStatement(statement: KeyStatement): PublishedStatement {
  const { message, chainId, walletSignature, predecessorSignature } = statement
  return {
    action: message.action,
    purpose: message.purpose,
    key_id: message.keyId,
    public_key: message.publicKey,
    not_before: message.notBefore,
    not_after: message.notAfter,
    node: message.node,
    api: message.api,
    origin: message.origin,
    tree_size: message.treeSize,
    chain_id: chainId,
    wallet: message.operator,
    wallet_signature: walletSignature,
    predecessor_key_id: message.predecessor,
    predecessor_until: message.predecessorUntil,
    predecessor_signature: predecessorSignature,
  }
}

export const statementsMax = 256

/** The statements in a list that are well formed, each with its place; others are left out. */
export function readStatements(list: unknown): { statement: KeyStatement; place: number }[] {
  if (!Array.isArray(list)) return []
  return list.slice(0, statementsMax).flatMap((entry, place) => {
    const statement = readStatement(entry)
    return statement ? [{ statement, place }] : []
  })
}

const texts = ['action', 'purpose', 'key_id', 'public_key', 'node', 'api', 'origin', 'wallet', 'predecessor_key_id']
const numbers = ['not_before', 'not_after', 'tree_size', 'predecessor_until', 'chain_id']
const signatures = ['wallet_signature', 'predecessor_signature']
const keyPattern = /^[A-Za-z0-9_-]{43}$/

function isPublished(entry: unknown): entry is PublishedStatement {
  if (!isRecord(entry) || !texts.every((name) => typeof entry[name] === 'string')) return false
  if (!numbers.every((name) => Number.isSafeInteger(entry[name]) && (entry[name] as number) >= 0)) return false
  return signatures.every((name) => entry[name] === null || typeof entry[name] === 'string')
}

function readStatement(entry: unknown): KeyStatement | undefined {
  if (!isPublished(entry)) return undefined
  const { action, purpose, wallet } = entry
  if (action !== 'add' && action !== 'rotate' && action !== 'revoke') return undefined
  if ((purpose !== 'response' && purpose !== 'log') || !/^0x[0-9a-f]{40}$/.test(wallet)) return undefined
  if (!keyPattern.test(entry.public_key) || thumbprint(entry.public_key) !== entry.key_id) return undefined
  return {
    message: {
      action,
      purpose,
      keyId: entry.key_id,
      publicKey: entry.public_key,
      notBefore: entry.not_before,
      notAfter: entry.not_after,
      node: entry.node,
      api: entry.api,
      origin: entry.origin,
      treeSize: entry.tree_size,
      operator: wallet as Address,
      predecessor: entry.predecessor_key_id,
      predecessorUntil: entry.predecessor_until,
    },
    chainId: entry.chain_id,
    walletSignature: entry.wallet_signature,
    predecessorSignature: entry.predecessor_signature,
  }
}
