import { followKeys } from '@assay/protocol/keys/follow-keys'
import { readStatements, thumbprint } from '@assay/protocol/keys/key-statement'
import { type NoteKey, noteKey, signatureTypes } from '@assay/protocol/log/signed-note'

/**
 * The keys of a log that follow from those a witness trusts, by the statements that the log publishes. A key names its
 * successor and the operator's wallet; that wallet may name keys too, and revoke one. A key that was revoked names
 * nobody from then on. What cannot be checked adds nothing; a revocation needs the word of that wallet.
 */
export async function followLogKeys(
  origin: string,
  trust: { keys: readonly NoteKey[]; wallets?: readonly string[] },
  list: unknown,
): Promise<NoteKey[]> {
  const statements = readStatements(list)
    .map(({ statement }) => statement)
    .filter(({ message }) => message.purpose === 'log' && message.origin === origin)
  const { keys } = await followKeys(statements, {
    keys: trust.keys.map(({ x }) => ({ keyId: thumbprint(x), x, purpose: 'log', origin })),
    wallets: trust.wallets ?? [],
    revokedBy: 'trusted',
  })
  return [...keys.values()]
    .filter(({ revokedAt }) => revokedAt === undefined)
    .map(({ x }) => noteKey(origin, signatureTypes.ed25519, x))
}
