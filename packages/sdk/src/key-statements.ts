import { fromBase64url, toBase64 } from '@assay/protocol/base64'
import { utf8 } from '@assay/protocol/bytes'
import { isRecord } from '@assay/protocol/json-object'
import { hashTypedData, keccak256, recoverAddress, sha256, stringToHex } from 'viem'
import { verifyEd25519 } from './ed25519.ts'

export type KeyPurpose = 'response' | 'log'

/** What is said about a key: by the key before it, by the operator's wallet, or by both. Times are unix seconds, 0 for none. */
export type KeyStatement = {
  action: string
  purpose: KeyPurpose
  keyId: string
  publicKey: string
  notBefore: number
  notAfter: number
  node: string
  /** Name of the log, and the size of the tree from which on its heads bear this key; empty and 0 for other keys. */
  origin: string
  treeSize: number
  /** The operator, who may also name keys; the zero address for none. */
  operator: string
  predecessor: string
  predecessorUntil: number
  chainId: number
  walletSignature: string | null
  predecessorSignature: string | null
}

export const zeroWallet = `0x${'00'.repeat(20)}`
const statementsMax = 256

/** The statements in a list that are well formed, each with its place; others are left out. */
export function readStatements(list: unknown): { statement: KeyStatement; place: number }[] {
  if (!Array.isArray(list)) return []
  return list.slice(0, statementsMax).flatMap((entry, place) => {
    const statement = readStatement(entry)
    return statement ? [{ statement, place }] : []
  })
}

const texts = ['action', 'purpose', 'key_id', 'public_key', 'node', 'origin', 'wallet', 'predecessor_key_id']
const numbers = ['not_before', 'not_after', 'tree_size', 'predecessor_until', 'chain_id']
const keyPattern = /^[A-Za-z0-9_-]{43}$/

function readStatement(entry: unknown): KeyStatement | undefined {
  if (!isRecord(entry)) return undefined
  if (!texts.every((name) => typeof entry[name] === 'string')) return undefined
  if (!numbers.every((name) => Number.isSafeInteger(entry[name]) && (entry[name] as number) >= 0)) return undefined
  const { wallet_signature, predecessor_signature, purpose, wallet } = entry
  const isTextOrNull = (value: unknown) => value === null || typeof value === 'string'
  if (!isTextOrNull(wallet_signature) || !isTextOrNull(predecessor_signature)) return undefined
  if (purpose !== 'response' && purpose !== 'log') return undefined
  if (!/^0x[0-9a-f]{40}$/.test(wallet as string)) return undefined
  if (!keyPattern.test(entry.public_key as string) || thumbprint(entry.public_key as string) !== entry.key_id)
    return undefined
  return {
    action: entry.action as string,
    purpose,
    keyId: entry.key_id as string,
    publicKey: entry.public_key as string,
    notBefore: entry.not_before as number,
    notAfter: entry.not_after as number,
    node: entry.node as string,
    origin: entry.origin as string,
    treeSize: entry.tree_size as number,
    operator: wallet as string,
    predecessor: entry.predecessor_key_id as string,
    predecessorUntil: entry.predecessor_until as number,
    chainId: entry.chain_id as number,
    walletSignature: wallet_signature as string | null,
    predecessorSignature: predecessor_signature as string | null,
  }
}

/** RFC 7638 of an Ed25519 key. */
export function thumbprint(x: string): string {
  const digest = sha256(utf8(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`), 'bytes')
  return toBase64(digest).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

export const keyStatementTypes = {
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

export function statementDigest(item: KeyStatement): `0x${string}` {
  const { action, purpose, keyId, publicKey, node, origin, predecessor } = item
  return hashTypedData({
    domain: { name: 'Assay', version: '1', chainId: item.chainId, salt: keccak256(stringToHex(node)) },
    types: keyStatementTypes,
    primaryType: 'KeyStatement',
    message: {
      action,
      purpose,
      keyId,
      publicKey,
      notBefore: BigInt(item.notBefore),
      notAfter: BigInt(item.notAfter),
      node,
      origin,
      treeSize: BigInt(item.treeSize),
      operator: item.operator as `0x${string}`,
      predecessor,
      predecessorUntil: BigInt(item.predecessorUntil),
    },
  })
}

const halfOrder = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n

/** Signed by the wallet it names, in the one form that such a signature has. A contract wallet needs its chain. */
export async function isSignedByWallet(item: KeyStatement): Promise<boolean> {
  const { walletSignature, operator } = item
  const [, s] = /^0x[0-9a-f]{64}([0-9a-f]{64})(?:1b|1c)$/.exec(walletSignature ?? '') ?? []
  if (s === undefined || operator === zeroWallet || BigInt(`0x${s}`) > halfOrder) return false
  try {
    const signer = await recoverAddress({ hash: statementDigest(item), signature: walletSignature as `0x${string}` })
    return signer.toLowerCase() === operator
  } catch {
    return false
  }
}

export async function isSignedByPredecessor(item: KeyStatement, x: string): Promise<boolean> {
  const signature = fromBase64url(item.predecessorSignature ?? '')
  if (signature?.length !== 64) return false
  return verifyEd25519(x, utf8(`assay key statement ${statementDigest(item)}`), signature)
}

/** A key may name its successor, and a key that signs answers the first key of the log. */
export const mayName = (purpose: KeyPurpose, item: KeyStatement) =>
  item.action === 'rotate' ? purpose === item.purpose : purpose === 'response' && item.purpose === 'log'
