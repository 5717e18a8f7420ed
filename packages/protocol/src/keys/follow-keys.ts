import { zeroAddress } from '../address.ts'
import { isSignedByPredecessor, isSignedByWallet, type KeyStatement, mayName } from './key-statement.ts'

/** A key of a node, and when its signatures count, in unix seconds. */
export type KnownKey = {
  keyId: string
  x: string
  purpose: KeyStatement['message']['purpose']
  notBefore: number
  /** Retired: signed by it later does not count. */
  notAfter: number | undefined
  /** Lost: what is not shown to be older does not count. */
  revokedAt: number | undefined
  /** Set for a key of the log. */
  origin?: string
  treeSize?: number
}

export type KeyAnchor = Pick<KnownKey, 'keyId' | 'x' | 'purpose'> & Partial<KnownKey>

export type FollowedKeys = {
  keys: ReadonlyMap<string, KnownKey>
  /** The statements that a trusted party signed. */
  accepted: ReadonlySet<KeyStatement>
  /** Those of them that the wallet signed, and those that the key before signed. */
  byWallet: ReadonlySet<KeyStatement>
  byPredecessor: ReadonlySet<KeyStatement>
}

export type KeyTrust = {
  keys: readonly KeyAnchor[]
  wallets: readonly string[]
  /** Public keys by id, for keys that statements only name. */
  named?: ReadonlyMap<string, string>
  /** Addresses of the one node it is about: a wallet may run several, and a key of one is none of another. */
  homes?: readonly string[]
  /**
   * Whose statement revokes a key. To a verifier of a file anybody's, for it can only take away. To a witness only that of
   * somebody trusted, or a stranger could silence a log.
   */
  revokedBy: 'anybody' | 'trusted'
}

/**
 * Goes from what is trusted to every key that it vouches for. Several rotations may be in between, and wallets that a trusted
 * key names may name keys themselves. A statement is about one node only, which the first accepted one names.
 */
export async function followKeys(statements: readonly KeyStatement[], trust: KeyTrust): Promise<FollowedKeys> {
  const signed = new Map<KeyStatement, boolean>()
  for (const item of statements) signed.set(item, await isSignedByWallet(item))
  const byOld = onceEach()
  let revoked = trust.revokedBy === 'anybody' ? revocations(statements) : new Map<string, number>()
  for (;;) {
    const followed = await followOnce(statements, trust, { signed, byOld }, revoked)
    const found = trust.revokedBy === 'anybody' ? revoked : revocations([...followed.accepted])
    // A key found to be revoked may have named others before that was found.
    if (found.size === revoked.size) return { ...followed, byPredecessor: await signedByOld(followed, byOld) }
    revoked = found
  }
}

type ByOld = (item: KeyStatement, x: string) => Promise<boolean>

/** A statement is asked about in every round, and the author of the list decides how many there are. */
function onceEach(): ByOld {
  const known = new Map<KeyStatement, { x: string; signed: Promise<boolean> }>()
  return (item, x) => {
    const before = known.get(item)
    if (before?.x === x) return before.signed
    const signed = isSignedByPredecessor(item, x)
    known.set(item, { x, signed })
    return signed
  }
}

type Followed = Omit<FollowedKeys, 'byPredecessor'>

async function followOnce(
  statements: readonly KeyStatement[],
  trust: KeyTrust,
  { signed, byOld }: { signed: ReadonlyMap<KeyStatement, boolean>; byOld: ByOld },
  revoked: ReadonlyMap<string, number>,
): Promise<Followed> {
  const keys = new Map<string, KnownKey>()
  const wallets = new Set(trust.wallets.map((wallet) => wallet.toLowerCase()))
  const accepted = new Set<KeyStatement>()
  const add = (key: KeyAnchor) => {
    const known = keys.get(key.keyId)
    // Once revoked, by whomever: a statement that names the key again does not give it back.
    const revokedAt = earlier(earlier(known?.revokedAt, key.revokedAt), revoked.get(key.keyId))
    keys.set(key.keyId, { notBefore: 0, notAfter: undefined, ...known, ...key, revokedAt })
  }
  for (const key of trust.keys) add(key)
  let node: string | undefined

  const vouched = async (item: KeyStatement): Promise<boolean> => {
    const { message } = item
    if (node !== undefined && message.node !== node) return false
    const ownNode = (trust.homes ?? []).every((home) => home === message.node || home === message.api)
    if (ownNode && signed.get(item) && wallets.has(message.operator)) return true
    const old = keys.get(message.predecessor)
    if (!old || !mayName(old.purpose, item)) return false
    const end = earlier(old.notAfter, old.revokedAt)
    // A key that was revoked cannot name its successor: the thief would be the first to try.
    if (end !== undefined && message.notBefore > end) return false
    return byOld(item, old.x)
  }
  const accept = (item: KeyStatement) => {
    const { action, keyId, publicKey: x, purpose, notBefore, origin, treeSize, predecessor } = item.message
    accepted.add(item)
    node ??= item.message.node
    if (item.message.operator !== zeroAddress) wallets.add(item.message.operator)
    if (action === 'revoke') return
    add({ keyId, x, purpose, notBefore, ...(purpose === 'log' ? { origin, treeSize } : {}) })
    if (action !== 'rotate') return
    const old = keys.get(predecessor)
    const oldX = old?.x ?? trust.named?.get(predecessor)
    // Anyone who says until when a key signed says that it was the node's.
    if (oldX !== undefined) {
      const notAfter = earlier(old?.notAfter, item.message.predecessorUntil)
      add({ keyId: predecessor, x: oldX, purpose, notAfter, ...(old || !origin ? {} : { origin, treeSize: 0 }) })
    }
  }

  for (let found = true; found; ) {
    found = false
    for (const item of statements) {
      if (accepted.has(item) || !(await vouched(item))) continue
      accept(item)
      found = true
    }
  }
  return { keys, accepted, byWallet: new Set([...accepted].filter((item) => signed.get(item))) }
}

async function signedByOld({ keys, accepted }: Followed, byOld: ByOld): Promise<Set<KeyStatement>> {
  const found = new Set<KeyStatement>()
  for (const item of accepted) {
    const x = keys.get(item.message.predecessor)?.x
    if (x !== undefined && (await byOld(item, x))) found.add(item)
  }
  return found
}

function revocations(statements: readonly KeyStatement[]): Map<string, number> {
  const at = new Map<string, number>()
  for (const { action, keyId, notAfter } of statements.map(({ message }) => message))
    if (action === 'revoke') at.set(keyId, earlier(at.get(keyId), notAfter) as number)
  return at
}

export function earlier(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b)
}

/** Clocks of two machines may differ by so much. */
const skewSeconds = 60

/** `provenBy` is when a witness had seen what was signed: only that shows that it is older than a theft. */
export function wasValid(
  key: Pick<KnownKey, 'notBefore' | 'notAfter' | 'revokedAt'>,
  signedAt: number,
  provenBy: number = signedAt,
): boolean {
  if (!(signedAt >= key.notBefore - skewSeconds) || signedAt > (key.notAfter ?? Number.POSITIVE_INFINITY)) return false
  return Math.max(signedAt, provenBy) <= (key.revokedAt ?? Number.POSITIVE_INFINITY)
}
