import { isRecord } from '../json-object.ts'
import { followKeys, type KeyAnchor, type KnownKey } from '../keys/follow-keys.ts'
import { asAnchor, readDirectory, type TrustedKey } from '../keys/key-directory.ts'
import { type KeyStatement, readStatements, thumbprint } from '../keys/key-statement.ts'
import { parseNoteKey, signatureTypes } from '../log/signed-note.ts'

/** Where the verifier's trust in keys comes from. Without any of these they come from the file itself. */
export type EvidenceTrust = {
  /** A key directory from another source than the file: published by the node today, or kept from an earlier visit. */
  trustedDirectory?: unknown
  /** Keys of the node that you know: the public key or its id, in base64url, or the key of a log as `name+id+base64`. */
  trustKeys?: readonly string[]
  /** Wallets of the operator. */
  trustWallets?: readonly string[]
}

/** What a file says about keys. */
export type FileKeys = {
  /** Addresses under which the file names its node. */
  homes: readonly string[]
  directory?: unknown
  /** Lists of statements, and where in the file each is. */
  statements: readonly { at: string; list: unknown }[]
  /** Keys that signed something in it and are published nowhere else in it. */
  responseKeys?: readonly string[]
}

export type ResolvedKeys = {
  keys: ReadonlyMap<string, KnownKey>
  /** False where the keys come from the file. */
  trusted: boolean
  /** How they are trusted, in words. */
  source: string
  /** Fields of the file that a trusted key or wallet signed. */
  covers: readonly string[]
}

export async function resolveKeys(file: FileKeys, trust: EvidenceTrust): Promise<ResolvedKeys> {
  const placed = file.statements.flatMap(({ at, list }) =>
    readStatements(list).map(({ statement, place }) => ({ statement, at: `${at}[${place}]` })),
  )
  const given = readDirectory(trust.trustedDirectory)
  const statements = placed.map(({ statement }) => statement)
  const own = namedKeys(file, statements)
  const { trustKeys = [], trustWallets = [] } = trust
  const trusted = trust.trustedDirectory !== undefined || trustKeys.length > 0 || trustWallets.length > 0
  const anchors: KeyAnchor[] = trusted
    ? [...given.keys.filter(hasOwnId).map(asAnchor), ...trustKeys.flatMap((text) => trustedKey(text, own, statements))]
    : own.filter(({ purpose }) => purpose === 'response')
  const followed = await followKeys([...statements, ...given.statements], {
    keys: anchors,
    // Without trust from outside the file names its wallets as it names its keys.
    wallets: trusted ? trustWallets : statements.map(({ message }) => message.operator),
    homes: file.homes,
    revokedBy: 'anybody',
    named: new Map(own.map(({ keyId, x }) => [keyId, x])),
  })
  const covers = placed.flatMap(({ statement, at }) => {
    if (!followed.accepted.has(statement)) return []
    const unchecked = [
      ...(statement.walletSignature === null || followed.byWallet.has(statement) ? [] : ['wallet_signature']),
      ...(statement.predecessorSignature === null || followed.byPredecessor.has(statement)
        ? []
        : ['predecessor_signature']),
    ]
    return statementFields.filter((name) => !unchecked.includes(name)).map((name) => `${at}.${name}`)
  })
  return { keys: followed.keys, trusted, source: sourceText(trust, trusted), covers }
}

const statementFields = [
  'action',
  'purpose',
  'key_id',
  'public_key',
  'not_before',
  'not_after',
  'node',
  'api',
  'origin',
  'tree_size',
  'chain_id',
  'wallet',
  'wallet_signature',
  'predecessor_key_id',
  'predecessor_until',
  'predecessor_signature',
]

const hasOwnId = ({ keyId, x }: TrustedKey) => thumbprint(x) === keyId

/**
 * A key that the verifier knows. What it is for is what statements say; a key of a log has to be given as one where they
 * are silent. An id alone helps where the file holds the key.
 */
function trustedKey(text: string, own: readonly KeyAnchor[], statements: readonly KeyStatement[]): KeyAnchor[] {
  const note = parseNoteKey(text)
  if (note) {
    const key = { keyId: thumbprint(note.x), x: note.x, origin: note.name, treeSize: 0 }
    return note.type === signatureTypes.ed25519 ? [{ ...key, purpose: 'log' }] : []
  }
  const known = own.find(({ keyId, x }) => text === x || text === keyId)
  if (known) return [known]
  const keyId = thumbprint(text)
  const successor = statements.find(
    ({ message }) => message.action === 'rotate' && message.predecessor === keyId,
  )?.message
  const origin = successor?.purpose === 'log' ? { origin: successor.origin, treeSize: 0 } : {}
  return [{ keyId, x: text, purpose: successor?.purpose ?? 'response', ...origin }]
}

/** Every key that the file holds, with what it is for. */
function namedKeys(file: FileKeys, statements: readonly KeyStatement[]): KeyAnchor[] {
  const named = new Map<string, KeyAnchor>()
  for (const key of readDirectory(file.directory).keys.filter(hasOwnId)) named.set(key.keyId, asAnchor(key))
  const add = (x: string, purpose: KeyAnchor['purpose'], place: Partial<KeyAnchor> = {}) => {
    const keyId = thumbprint(x)
    if (!named.has(keyId)) named.set(keyId, { keyId, x, purpose, ...place })
  }
  for (const { publicKey, purpose, origin } of statements.map(({ message }) => message))
    add(publicKey, purpose, purpose === 'log' ? { origin, treeSize: 0 } : {})
  for (const x of file.responseKeys ?? []) add(x, 'response')
  return [...named.values()]
}

function sourceText({ trustedDirectory, trustKeys = [], trustWallets = [] }: EvidenceTrust, trusted: boolean): string {
  if (!trusted) return 'the file itself'
  const parts = [
    ...(trustedDirectory === undefined ? [] : ['a directory from another source than the file']),
    ...(trustKeys.length === 0 ? [] : ['a key that you trust']),
    ...(trustWallets.length === 0 ? [] : ['a wallet that you trust']),
  ]
  return parts.join(' or ')
}

/** The statements of a key directory, where a file holds one. */
export const directoryStatements = (directory: unknown): unknown => (isRecord(directory) ? directory.statements : [])
