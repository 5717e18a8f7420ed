import {
  isSignedByPredecessor,
  type KeyStatementMessage,
  type KeyStatementRecord,
  thumbprint,
  verifyKeyStatement,
} from '@assay/till/signing'
import { type NoteKey, noteKey, signatureTypes } from './signed-note.ts'

type Published = Record<string, unknown>
type Link = { record: KeyStatementRecord; message: KeyStatementMessage }

/**
 * The keys of a log that follow from those a witness trusts, by the statements that the log publishes. A key names its
 * successor and the operator's wallet; that wallet may name keys too, and take one back. A key that was taken back names
 * nobody from then on. What cannot be checked adds nothing; a revocation needs the word of that wallet.
 */
export async function followLogKeys(
  origin: string,
  trust: { keys: readonly NoteKey[]; wallets?: readonly string[] },
  statements: readonly unknown[],
): Promise<NoteKey[]> {
  const links = statements.flatMap((one) => readLink(one, origin))
  let followed = await follow(origin, trust, links, new Map())
  // A key found to be taken back may have named others before that was found.
  for (let before = -1; before !== followed.revoked.size; ) {
    before = followed.revoked.size
    followed = await follow(origin, trust, links, followed.revoked)
  }
  return [...followed.keys].flatMap(([x, key]) => (followed.revoked.has(x) ? [] : [key]))
}

async function follow(
  origin: string,
  trust: { keys: readonly NoteKey[]; wallets?: readonly string[] },
  links: readonly Link[],
  known: ReadonlyMap<string, number>,
): Promise<{ keys: Map<string, NoteKey>; revoked: Map<string, number> }> {
  const keys = new Map(trust.keys.map((key) => [key.publicKey.toString('base64url'), key]))
  const ids = new Map(links.map(({ message }) => [message.keyId, message.publicKey]))
  const wallets = new Set((trust.wallets ?? []).map((wallet) => wallet.toLowerCase()))
  const revoked = new Map(known)
  const done = new Set<Link>()
  const oldOf = ({ message }: Link) => [...keys.keys()].find((x) => thumbprint(x) === message.predecessor)
  const byWallet = ({ record, message }: Link) =>
    wallets.has(message.operator) &&
    verifyKeyStatement(record, { node: message.node, operator: message.operator, publicKeyOf: (id) => ids.get(id) })
  const byOld = (link: Link) => {
    const x = oldOf(link)
    if (x === undefined || link.message.action !== 'rotate') return false
    return (
      link.message.notBefore <= (revoked.get(x) ?? Number.POSITIVE_INFINITY) && isSignedByPredecessor(link.record, x)
    )
  }
  for (let found = true; found; ) {
    found = false
    for (const link of links) {
      if (done.has(link) || !(byOld(link) || (await byWallet(link)))) continue
      const { action, publicKey: x, notAfter, operator } = link.message
      done.add(link)
      found = true
      wallets.add(operator)
      if (action === 'revoke') revoked.set(x, Math.min(notAfter, revoked.get(x) ?? notAfter))
      else keys.set(x, noteKey(origin, signatureTypes.ed25519, Buffer.from(x, 'base64url')))
    }
  }
  return { keys, revoked }
}

function readLink(value: unknown, origin: string): Link[] {
  const one = (value ?? {}) as Published
  const texts = ['key_id', 'public_key', 'node', 'wallet', 'predecessor_key_id'].every(
    (n) => typeof one[n] === 'string',
  )
  const numbers = ['not_before', 'not_after', 'tree_size', 'chain_id', 'predecessor_until'].every(
    (name) => Number.isSafeInteger(one[name]) && Number(one[name]) >= 0,
  )
  if (!texts || !numbers || one.purpose !== 'log' || one.origin !== origin) return []
  if (!['add', 'rotate', 'revoke'].includes(String(one.action))) return []
  if (!/^0x[0-9a-f]{40}$/.test(String(one.wallet)) || thumbprint(String(one.public_key)) !== one.key_id) return []
  const message = {
    action: one.action,
    purpose: 'log',
    keyId: one.key_id,
    publicKey: one.public_key,
    notBefore: one.not_before,
    notAfter: one.not_after,
    node: one.node,
    origin,
    treeSize: one.tree_size,
    operator: one.wallet,
    predecessor: one.predecessor_key_id,
    predecessorUntil: one.predecessor_until,
  } as KeyStatementMessage
  const text = (name: string) => (typeof one[name] === 'string' ? (one[name] as string) : null)
  const record: KeyStatementRecord = {
    message,
    chainId: one.chain_id as number,
    walletSignature: text('wallet_signature') as KeyStatementRecord['walletSignature'],
    predecessorSignature: text('predecessor_signature'),
  }
  return [{ record, message }]
}
