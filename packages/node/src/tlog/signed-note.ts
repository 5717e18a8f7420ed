import { createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
import { sha256 } from '@assay/till/kernel/bytes'

/** C2SP signed-note: a text, an empty line, and one line for each signature. */
export type NoteSignature = { name: string; keyId: Buffer; signature: Buffer; line: string }
export type Note = { text: string; signatures: readonly NoteSignature[] }

export const signatureTypes = { ed25519: 0x01, cosignature: 0x04 } as const

/** A key as others are given it: `name+keyid+base64(type || public key)`. */
export type NoteKey = { name: string; type: number; keyId: Buffer; publicKey: Buffer; vkey: string }

export function noteKey(name: string, type: number, publicKey: Uint8Array): NoteKey {
  const material = Buffer.concat([Buffer.from([type]), publicKey])
  const keyId = sha256(Buffer.concat([Buffer.from(`${name}\n`), material])).subarray(0, 4)
  return {
    name,
    type,
    keyId,
    publicKey: Buffer.from(publicKey),
    vkey: `${name}+${keyId.toString('hex')}+${material.toString('base64')}`,
  }
}

/** Undefined unless the id in the text is the one that follows from name and key. */
export function parseNoteKey(vkey: string): NoteKey | undefined {
  const [, name, keyId, base64] = /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)$/.exec(vkey) ?? []
  if (name === undefined || keyId === undefined || base64 === undefined) return undefined
  const material = Buffer.from(base64, 'base64')
  const [type] = material
  if (type === undefined || material.length !== 33 || material.toString('base64') !== base64) return undefined
  const key = noteKey(name, type, material.subarray(1))
  return key.keyId.toString('hex') === keyId ? key : undefined
}

export function signatureLine(name: string, keyId: Uint8Array, signature: Uint8Array): string {
  return `— ${name} ${Buffer.concat([keyId, signature]).toString('base64')}\n`
}

/** The text with the line of one ed25519 key. */
export function signNote(text: string, key: NoteKey, privateKey: KeyObject): string {
  return `${text}\n${signatureLine(key.name, key.keyId, sign(null, Buffer.from(text), privateKey))}`
}

const textBytesMax = 1_000_000
const linesMax = 100

/** Undefined for anything that is not a well-formed note. Says nothing about who signed. */
export function parseNote(note: string): Note | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a note has no control characters but its line ends
  if (note.length > textBytesMax || !note.endsWith('\n') || /[\u0000-\u0009\u000b-\u001f\ufffd]/.test(note))
    return undefined
  const split = note.lastIndexOf('\n\n')
  if (split < 0) return undefined
  const text = note.slice(0, split + 1)
  const lines = note.slice(split + 2, -1).split('\n')
  if (lines.length > linesMax) return undefined
  const signatures = lines.map(parseSignatureLine)
  return signatures.every((one) => one !== undefined) ? { text, signatures: signatures as NoteSignature[] } : undefined
}

export function parseSignatureLine(line: string): NoteSignature | undefined {
  const [, name, base64] = /^— ([^\s+]{1,255}) ([A-Za-z0-9+/]+={0,2})$/.exec(line) ?? []
  if (name === undefined || base64 === undefined) return undefined
  const bytes = Buffer.from(base64, 'base64')
  if (bytes.length < 5 || bytes.toString('base64') !== base64) return undefined
  return { name, keyId: bytes.subarray(0, 4), signature: bytes.subarray(4), line: `${line}\n` }
}

const spkiPrefix = Buffer.from('302a300506032b6570032100', 'hex')

export function verifyNoteSignature(key: NoteKey, message: string, signature: Uint8Array): boolean {
  if (signature.length !== 64) return false
  try {
    const publicKey = createPublicKey({
      key: Buffer.concat([spkiPrefix, key.publicKey]),
      format: 'der',
      type: 'spki',
    })
    return verify(null, Buffer.from(message), publicKey, signature)
  } catch {
    return false
  }
}

/** Signed by this key: a line with its name and id exists, and every such line is right. */
export function isSignedBy(note: Note, key: NoteKey): boolean {
  const own = note.signatures.filter((one) => one.name === key.name && one.keyId.equals(key.keyId))
  return own.length > 0 && own.every((one) => verifyNoteSignature(key, note.text, one.signature))
}
