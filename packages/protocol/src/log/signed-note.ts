import { fromBase64, fromBase64url, toBase64, toBase64url } from '../base64.ts'
import { concatBytes, fromHex, toHexDigits, utf8 } from '../bytes.ts'
import { verifyEd25519 } from '../ed25519.ts'
import { sha256 } from '../hash.ts'

/** C2SP signed-note: a text, an empty line, and one line for each signature. The id of a key is 4 bytes in hex. */
export type NoteSignature = { name: string; keyId: string; signature: Uint8Array<ArrayBuffer>; line: string }
export type Note = { text: string; signatures: readonly NoteSignature[] }

export const signatureTypes = { ed25519: 0x01, cosignature: 0x04 } as const

/** A key as others are given it: `name+keyid+base64(type || public key)`. `x` is the public key in base64url. */
export type NoteKey = { name: string; type: number; keyId: string; x: string; vkey: string }

export function noteKey(name: string, type: number, x: string): NoteKey {
  const material = concatBytes(Uint8Array.of(type), fromBase64url(x) ?? new Uint8Array())
  if (material.length !== 33) throw new RangeError('a key has 32 bytes')
  const keyId = toHexDigits(sha256(concatBytes(utf8(`${name}\n`), material)).subarray(0, 4))
  return { name, type, keyId, x, vkey: `${name}+${keyId}+${toBase64(material)}` }
}

/** Undefined unless the id in the text is the one that follows from name and key. */
export function parseNoteKey(vkey: string): NoteKey | undefined {
  const [, name, keyId, base64] = /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)$/.exec(vkey) ?? []
  const material = base64 === undefined ? undefined : fromBase64(base64)
  if (name === undefined || material?.length !== 33) return undefined
  const key = noteKey(name, material[0] as number, toBase64url(material.subarray(1)))
  return key.keyId === keyId ? key : undefined
}

export function signatureLine(key: NoteKey, signature: Uint8Array): string {
  return `— ${key.name} ${toBase64(concatBytes(fromHex(`0x${key.keyId}`), signature))}\n`
}

const noteCharsMax = 1_000_000
const linesMax = 100

/** Undefined for anything that is not a well-formed note. Says nothing about who signed. */
export function parseNote(note: string): Note | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a note has no control characters but its line ends
  if (note.length > noteCharsMax || !note.endsWith('\n') || /[\u0000-\u0009\u000b-\u001f\ufffd]/.test(note))
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
  const bytes = base64 === undefined ? undefined : fromBase64(base64)
  if (name === undefined || bytes === undefined || bytes.length < 5) return undefined
  return { name, keyId: toHexDigits(bytes.subarray(0, 4)), signature: bytes.slice(4), line: `${line}\n` }
}

/** Whether the line claims to be of this key. */
export const isLineOf = (one: NoteSignature, key: NoteKey) => one.name === key.name && one.keyId === key.keyId

export const hasLineOf = (note: Note, key: NoteKey) => note.signatures.some((one) => isLineOf(one, key))

/** Signed by this key of a log: a line with its name and id exists, and every such line is right. */
export async function isSignedBy(note: Note, key: NoteKey): Promise<boolean> {
  const own = note.signatures.filter((one) => isLineOf(one, key))
  if (own.length === 0 || key.type !== signatureTypes.ed25519) return false
  const right = await Promise.all(own.map(({ signature }) => verifyEd25519(key.x, utf8(note.text), signature)))
  return right.every(Boolean)
}
