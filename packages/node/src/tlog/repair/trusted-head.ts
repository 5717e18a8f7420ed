import { privateKeyFromSeed } from '@assay/till/signing'
import type { Sql } from '@assay/till/store/database'
import { type Checkpoint, cosignedAt, parseCheckpoint } from '../checkpoint.ts'
import { isSignedBy, type NoteKey, noteKey, parseNoteKey, signatureTypes } from '../signed-note.ts'
import type { Cosignature } from '../store.ts'

export type TrustedHead = Checkpoint & {
  /** Without the lines of others. */
  note: string
  cosignatures: Cosignature[]
}

export type HeadKeys = { log: readonly NoteKey[]; witnesses: readonly NoteKey[] }

/**
 * Undefined unless a key of the log signed it, or a witness that the operator chose: a key that is younger than the backup
 * is not in the restored database.
 */
export function trustedHead(note: string, origin: string, keys: HeadKeys): TrustedHead | undefined {
  const parsed = parseCheckpoint(note)
  if (!parsed || parsed.checkpoint.origin !== origin) return undefined
  const { text, signatures } = parsed.note
  const cosignatures = signatures.flatMap((signature) => {
    const witness = keys.witnesses.find(({ keyId, name }) => name === signature.name && keyId.equals(signature.keyId))
    const seconds = witness && cosignedAt(text, signature, witness)
    return !witness || seconds === undefined
      ? []
      : [
          {
            witness: signature.name,
            line: signature.line,
            vkey: witness.vkey,
            peer: false,
            at: new Date(seconds * 1000),
          },
        ]
  })
  if (cosignatures.length === 0 && !keys.log.some((key) => isSignedBy(parsed.note, key))) return undefined
  const own = signatures.filter(({ name }) => name === origin).map(({ line }) => line)
  return { ...parsed.checkpoint, note: `${text}\n${own.join('')}`, cosignatures }
}

/** Keys that may have signed heads of this log, as the database has them. */
export async function readLogKeys(sql: Sql, origin: string): Promise<NoteKey[]> {
  const { rows } = await sql.query<{ x: string }>(
    `select public_x as x from keyring where purpose = 'log' and revoked_at is null`,
  )
  return rows.map(({ x }) => noteKey(origin, signatureTypes.ed25519, Buffer.from(x, 'base64url')))
}

/** Those of the settings, and those that a demo node brings. */
export async function readWitnessKeys(sql: Sql, configured: readonly string[]): Promise<NoteKey[]> {
  const { rows } = await sql.query<{ witness: string; private_d: string }>(
    'select witness, private_d from log_witness_key',
  )
  return [
    ...configured.flatMap((vkey) => parseNoteKey(vkey) ?? []),
    ...rows.map(({ witness, private_d: seed }) =>
      noteKey(witness, signatureTypes.cosignature, Buffer.from(privateKeyFromSeed(seed).x, 'base64url')),
    ),
  ]
}
