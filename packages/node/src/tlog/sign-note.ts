import { type KeyObject, sign } from 'node:crypto'
import { cosignedMessage } from '@assay/protocol/log/checkpoint'
import { type NoteKey, signatureLine } from '@assay/protocol/log/signed-note'

/** The text with the line of one ed25519 key. */
export function signNote(text: string, key: NoteKey, privateKey: KeyObject): string {
  return `${text}\n${noteLine(text, key, (bytes) => sign(null, bytes, privateKey))}`
}

export function noteLine(text: string, key: NoteKey, signed: (bytes: Uint8Array) => Buffer): string {
  return signatureLine(key, signed(Buffer.from(text)))
}

/** The line by which a witness says when it saw this tree head. */
export function cosign(text: string, key: NoteKey, privateKey: KeyObject, seconds: number): string {
  const time = Buffer.alloc(8)
  time.writeBigUInt64BE(BigInt(seconds))
  return signatureLine(key, Buffer.concat([time, sign(null, cosignedMessage(text, seconds), privateKey)]))
}
