import { fromBase64, toBase64 } from '../base64.ts'
import { utf8 } from '../bytes.ts'
import { verifyEd25519 } from '../ed25519.ts'
import {
  hasLineOf,
  isLineOf,
  isSignedBy,
  type Note,
  type NoteKey,
  type NoteSignature,
  parseNote,
  parseNoteKey,
  signatureTypes,
} from './signed-note.ts'

/** A tree head as C2SP tlog-checkpoint writes it. */
export type Checkpoint = { origin: string; size: number; root: Uint8Array }

/** A tree head with its text and the signatures over it. */
export type SignedHead = Checkpoint & Note

export function checkpointText({ origin, size, root }: Checkpoint): string {
  return `${origin}\n${size}\n${toBase64(root)}\n`
}

/** The first three lines; extension lines are signed but mean nothing here. */
export function parseCheckpointText(text: string): Checkpoint | undefined {
  const [origin, sizeText, rootText] = text.split('\n')
  if (!origin || !/^(?:0|[1-9][0-9]{0,15})$/.test(sizeText ?? '')) return undefined
  const root = fromBase64(rootText ?? '')
  const size = Number(sizeText)
  return root?.length === 32 && Number.isSafeInteger(size) ? { origin, size, root } : undefined
}

/** Undefined for anything that is not a signed tree head. Says nothing about who signed it. */
export function parseCheckpoint(text: string): SignedHead | undefined {
  const note = parseNote(text)
  const checkpoint = note && parseCheckpointText(note.text)
  return checkpoint && { ...checkpoint, ...note }
}

/** Signed by one of these keys, and no line that claims to be of one of them is wrong. */
export async function isSignedByLog(head: SignedHead, vkeys: readonly string[]): Promise<boolean> {
  const keys = vkeys
    .flatMap((vkey) => parseNoteKey(vkey) ?? [])
    .filter(({ name, type }) => name === head.origin && type === signatureTypes.ed25519)
    .filter((key) => hasLineOf(head, key))
  const signed = await Promise.all(keys.map((key) => isSignedBy(head, key)))
  return signed.length > 0 && signed.every(Boolean)
}

/** C2SP tlog-cosignature: the witness says when it saw this tree head, after it checked that the log only grew. */
export function cosignedMessage(text: string, seconds: number): Uint8Array<ArrayBuffer> {
  return utf8(`cosignature/v1\ntime ${seconds}\n${text}`)
}

/** When the witness signed, in unix seconds; undefined when it did not. */
export async function cosignedAt(text: string, line: NoteSignature, key: NoteKey): Promise<number | undefined> {
  const { signature } = line
  if (key.type !== signatureTypes.cosignature || !isLineOf(line, key) || signature.length !== 72) return undefined
  const seconds = Number(new DataView(signature.buffer, signature.byteOffset).getBigUint64(0))
  if (!Number.isSafeInteger(seconds)) return undefined
  return (await verifyEd25519(key.x, cosignedMessage(text, seconds), signature.slice(8))) ? seconds : undefined
}

/** The same for whichever line of a head is the witness's. */
export async function witnessedAt(head: Note, key: NoteKey): Promise<number | undefined> {
  const line = head.signatures.find((one) => isLineOf(one, key))
  return line && cosignedAt(head.text, line, key)
}
