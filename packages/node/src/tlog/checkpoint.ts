import { type KeyObject, sign } from 'node:crypto'
import {
  type Note,
  type NoteKey,
  type NoteSignature,
  parseNote,
  signatureLine,
  signatureTypes,
  verifyNoteSignature,
} from './signed-note.ts'

/** A tree head as C2SP tlog-checkpoint writes it. */
export type Checkpoint = { origin: string; size: number; root: Buffer }

export function checkpointText({ origin, size, root }: Checkpoint): string {
  return `${origin}\n${size}\n${root.toString('base64')}\n`
}

/** The first three lines; extension lines are signed but mean nothing here. */
export function parseCheckpointText(text: string): Checkpoint | undefined {
  const [origin, sizeText, rootText] = text.split('\n')
  if (!origin || !/^(?:0|[1-9][0-9]{0,15})$/.test(sizeText ?? '') || rootText === undefined) return undefined
  const root = Buffer.from(rootText, 'base64')
  const size = Number(sizeText)
  if (root.length !== 32 || root.toString('base64') !== rootText || !Number.isSafeInteger(size)) return undefined
  return { origin, size, root }
}

export function parseCheckpoint(note: string): { note: Note; checkpoint: Checkpoint } | undefined {
  const parsed = parseNote(note)
  const checkpoint = parsed && parseCheckpointText(parsed.text)
  return parsed && checkpoint ? { note: parsed, checkpoint } : undefined
}

const cosignedMessage = (text: string, seconds: number) => `cosignature/v1\ntime ${seconds}\n${text}`

/** C2SP tlog-cosignature: the witness says when it saw this tree head, after it checked that the log only grew. */
export function cosign(text: string, key: NoteKey, privateKey: KeyObject, seconds: number): string {
  const time = Buffer.alloc(8)
  time.writeBigUInt64BE(BigInt(seconds))
  const signature = sign(null, Buffer.from(cosignedMessage(text, seconds)), privateKey)
  return signatureLine(key.name, key.keyId, Buffer.concat([time, signature]))
}

/** When the witness signed, in unix seconds; undefined when it did not. */
export function cosignedAt(text: string, signature: NoteSignature, key: NoteKey): number | undefined {
  if (key.type !== signatureTypes.cosignature || signature.signature.length !== 72) return undefined
  if (signature.name !== key.name || !signature.keyId.equals(key.keyId)) return undefined
  const seconds = Number(signature.signature.readBigUInt64BE(0))
  if (!Number.isSafeInteger(seconds)) return undefined
  return verifyNoteSignature(key, cosignedMessage(text, seconds), signature.signature.subarray(8)) ? seconds : undefined
}
