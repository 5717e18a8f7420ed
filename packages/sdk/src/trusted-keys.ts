import { hashTypedData, keccak256, recoverAddress, stringToHex } from 'viem'
import { fromBase64url, isRecord, utf8 } from './bytes.ts'
import { verifyEd25519 } from './ed25519.ts'

/** A public key of a node and the seconds between which its signatures count. */
export type TrustedKey = { keyId: string; x: string; notBefore: number; notAfter: number | undefined }

export type KeySet = ReadonlyMap<string, TrustedKey>

type Statement = {
  action: string
  keyId: string
  publicKey: string
  notBefore: number
  notAfter: number
  node: string
  chainId: number
  wallet: string
  walletSignature: string
  predecessorKeyId: string | undefined
  predecessorSignature: string | undefined
}

const keysMax = 256

/** The keys of a directory document that are well formed; others are left out. */
export function readDirectory(document: unknown): { keys: TrustedKey[]; statements: Statement[] } {
  if (!isRecord(document) || !Array.isArray(document.keys)) return { keys: [], statements: [] }
  const statements = Array.isArray(document.statements) ? document.statements : []
  return {
    keys: document.keys.slice(0, keysMax).flatMap(readKey),
    statements: statements.slice(0, keysMax).flatMap(readStatement),
  }
}

function readKey(entry: unknown): TrustedKey[] {
  if (!isRecord(entry)) return []
  const { kty, crv, kid, x, nbf = 0, exp } = entry
  if (kty !== 'OKP' || crv !== 'Ed25519' || typeof kid !== 'string' || typeof x !== 'string') return []
  if (typeof nbf !== 'number' || (exp !== undefined && typeof exp !== 'number')) return []
  return [{ keyId: kid, x, notBefore: nbf, notAfter: exp }]
}

function readStatement(entry: unknown): Statement[] {
  if (!isRecord(entry)) return []
  const text = (name: string) => (typeof entry[name] === 'string' ? entry[name] : undefined)
  const number = (name: string) => (Number.isSafeInteger(entry[name]) ? (entry[name] as number) : undefined)
  const statement = {
    action: text('action'),
    keyId: text('key_id'),
    publicKey: text('public_key'),
    notBefore: number('not_before'),
    notAfter: number('not_after'),
    node: text('node'),
    chainId: number('chain_id'),
    wallet: text('wallet'),
    walletSignature: text('wallet_signature'),
  }
  if (Object.values(statement).some((value) => value === undefined)) return []
  const optional = {
    predecessorKeyId: text('predecessor_key_id'),
    predecessorSignature: text('predecessor_signature'),
  }
  return [{ ...(statement as Omit<Statement, keyof typeof optional>), ...optional }]
}

/** Whose wallet may name new keys, and for which node: a wallet may run several, and a key of one is none of another. */
export type Operator = { wallet: string; node: string }

/**
 * The pinned keys after a look at a newer directory. A new key is trusted when a pinned key or the operator's wallet
 * vouches for it; a known key may only get a shorter life.
 */
export async function followDirectory(pinned: KeySet, document: unknown, operator?: Operator): Promise<KeySet> {
  const { keys, statements } = readDirectory(document)
  const trusted = new Map(pinned)
  for (const key of keys) {
    const known = trusted.get(key.keyId)
    if (known?.x === key.x) trusted.set(key.keyId, { ...known, notAfter: earlier(known.notAfter, key.notAfter) })
  }
  // Several rotations may lie between two visits, so the chain is followed until nothing new is found.
  let next = await findVouched(keys, statements, trusted, operator)
  while (next !== undefined) {
    trusted.set(next.keyId, next)
    next = await findVouched(keys, statements, trusted, operator)
  }
  return trusted
}

async function findVouched(
  keys: readonly TrustedKey[],
  statements: readonly Statement[],
  trusted: KeySet,
  operator: Operator | undefined,
): Promise<TrustedKey | undefined> {
  for (const key of keys) {
    if (trusted.has(key.keyId)) continue
    for (const item of statements) {
      const about = item.keyId === key.keyId && item.publicKey === key.x
      if (about && (await vouchedFor(item, trusted, operator))) return key
    }
  }
  return undefined
}

function earlier(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return Math.min(a, b)
}

const statementTypes = {
  KeyStatement: [
    { name: 'action', type: 'string' },
    { name: 'keyId', type: 'string' },
    { name: 'publicKey', type: 'string' },
    { name: 'notBefore', type: 'uint64' },
    { name: 'notAfter', type: 'uint64' },
    { name: 'node', type: 'string' },
  ],
} as const

async function vouchedFor(item: Statement, trusted: KeySet, operator: Operator | undefined): Promise<boolean> {
  if (item.action !== 'add' && item.action !== 'rotate') return false
  const digest = statementDigest(item)
  if (operator?.node === item.node && (await signedByWallet(digest, item.walletSignature, operator.wallet))) return true
  const old = item.predecessorKeyId === undefined ? undefined : trusted.get(item.predecessorKeyId)
  const signature = fromBase64url(item.predecessorSignature ?? '')
  if (old === undefined || signature === undefined) return false
  // A key that was taken back cannot name its successor: the thief would be the first to try.
  if (old.notAfter !== undefined && item.notBefore > old.notAfter) return false
  return verifyEd25519(old.x, utf8(`assay key statement ${digest}`), signature)
}

function statementDigest(item: Statement): `0x${string}` {
  const { action, keyId, publicKey, node } = item
  return hashTypedData({
    domain: { name: 'Assay', version: '1', chainId: item.chainId, salt: keccak256(stringToHex(node)) },
    types: statementTypes,
    primaryType: 'KeyStatement',
    message: { action, keyId, publicKey, notBefore: BigInt(item.notBefore), notAfter: BigInt(item.notAfter), node },
  })
}

async function signedByWallet(hash: `0x${string}`, signature: string, wallet: string): Promise<boolean> {
  try {
    const signer = await recoverAddress({ hash, signature: signature as `0x${string}` })
    return signer.toLowerCase() === wallet.toLowerCase()
  } catch {
    return false
  }
}
