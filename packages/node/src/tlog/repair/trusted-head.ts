import { type Checkpoint, cosignedAt, parseCheckpoint } from '@assay/protocol/log/checkpoint'
import {
  isLineOf,
  isSignedBy,
  type NoteKey,
  noteKey,
  parseNoteKey,
  signatureTypes,
} from '@assay/protocol/log/signed-note'
import { privateKeyFromSeed } from '@assay/till/signing'
import type { Sql } from '@assay/till/store/database'
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
export async function trustedHead(note: string, origin: string, keys: HeadKeys): Promise<TrustedHead | undefined> {
  const parsed = parseCheckpoint(note)
  if (!parsed || parsed.origin !== origin) return undefined
  const { text, signatures, size, root } = parsed
  const cosignatures: Cosignature[] = []
  for (const line of signatures) {
    const witness = keys.witnesses.find((key) => isLineOf(line, key))
    const seconds = witness && (await cosignedAt(text, line, witness))
    if (!witness || seconds === undefined) continue
    const at = new Date(seconds * 1000)
    cosignatures.push({ witness: line.name, line: line.line, vkey: witness.vkey, peer: false, at })
  }
  const signed = await Promise.all(keys.log.map((key) => isSignedBy(parsed, key)))
  if (cosignatures.length === 0 && !signed.includes(true)) return undefined
  const own = signatures.filter(({ name }) => name === origin).map(({ line }) => line)
  return { origin, size, root, note: `${text}\n${own.join('')}`, cosignatures }
}

/** Keys that may have signed heads of this log, as the database has them. */
export async function readLogKeys(sql: Sql, origin: string): Promise<NoteKey[]> {
  const { rows } = await sql.query<{ x: string }>(
    `select public_x as x from keyring where purpose = 'log' and revoked_at is null`,
  )
  return rows.map(({ x }) => noteKey(origin, signatureTypes.ed25519, x))
}

/** Those of the settings, and those that a demo node brings. */
export async function readWitnessKeys(sql: Sql, configured: readonly string[]): Promise<NoteKey[]> {
  const { rows } = await sql.query<{ witness: string; private_d: string }>(
    'select witness, private_d from log_witness_key',
  )
  return [
    ...configured.flatMap((vkey) => parseNoteKey(vkey) ?? []),
    ...rows.map(({ witness, private_d: seed }) =>
      noteKey(witness, signatureTypes.cosignature, privateKeyFromSeed(seed).x),
    ),
  ]
}
