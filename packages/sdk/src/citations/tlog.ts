import { fromBase64, toBase64 } from '@assay/protocol/base64'
import { utf8 } from '@assay/protocol/bytes'
import { concatBytes, sha256 } from 'viem'
import { verifyEd25519 } from '../ed25519.ts'

type Bytes = Uint8Array<ArrayBuffer>

const hash = (...parts: Uint8Array[]): Bytes => sha256(concatBytes(parts), 'bytes') as Bytes
const same = (a: Uint8Array, b: Uint8Array) => a.length === b.length && a.every((byte, index) => byte === b[index])

/** RFC 6962. */
export const leafHash = (entry: Uint8Array): Bytes => hash(new Uint8Array([0]), entry)
const nodeHash = (left: Uint8Array, right: Uint8Array): Bytes => hash(new Uint8Array([1]), left, right)

/** RFC 9162, 2.1.3.2: does the path lead from the leaf to the root? */
export function verifyInclusion(
  leaf: Uint8Array,
  index: number,
  size: number,
  path: readonly Uint8Array[],
  root: Uint8Array,
): boolean {
  if (!Number.isSafeInteger(index) || !Number.isSafeInteger(size) || index < 0 || index >= size) return false
  let [at, last] = [index, size - 1]
  let node = leaf
  for (const sibling of path) {
    if (last === 0 || sibling.length !== 32) return false
    if (at % 2 === 1 || at === last) {
      node = nodeHash(sibling, node)
      while (at % 2 === 0 && at !== 0) [at, last] = [at / 2, Math.floor(last / 2)]
    } else node = nodeHash(node, sibling)
    ;[at, last] = [Math.floor(at / 2), Math.floor(last / 2)]
  }
  return last === 0 && same(node, root)
}

/** RFC 9162, 2.1.4.2: does the later tree begin with the earlier one? */
export function verifyConsistency(
  earlier: { size: number; root: Uint8Array },
  later: { size: number; root: Uint8Array },
  proof: readonly Uint8Array[],
): boolean {
  if (!Number.isSafeInteger(earlier.size) || earlier.size < 1 || earlier.size > later.size) return false
  if (earlier.size === later.size) return proof.length === 0 && same(earlier.root, later.root)
  let [at, last] = [earlier.size - 1, later.size - 1]
  while (at % 2 === 1) [at, last] = [Math.floor(at / 2), Math.floor(last / 2)]
  // A whole subtree is its own first hash, which the proof then leaves out.
  const [first, ...rest] = at === 0 ? [earlier.root, ...proof] : proof
  if (first === undefined || [first, ...rest].some((hash) => hash.length !== 32)) return false
  let [old, grown] = [first, first]
  for (const sibling of rest) {
    if (last === 0) return false
    if (at % 2 === 1 || at === last) {
      ;[old, grown] = [nodeHash(sibling, old), nodeHash(sibling, grown)]
      while (at % 2 === 0 && at !== 0) [at, last] = [at / 2, Math.floor(last / 2)]
    } else grown = nodeHash(grown, sibling)
    ;[at, last] = [Math.floor(at / 2), Math.floor(last / 2)]
  }
  return last === 0 && same(old, earlier.root) && same(grown, later.root)
}

export type NoteSignature = { name: string; keyId: string; signature: Bytes }
export type Checkpoint = {
  text: string
  origin: string
  size: number
  root: Bytes
  signatures: readonly NoteSignature[]
}

/** A C2SP tlog-checkpoint, or undefined. Says nothing about who signed it. */
export function parseCheckpoint(note: string): Checkpoint | undefined {
  const split = note.lastIndexOf('\n\n')
  if (note.length > 100_000 || split < 0 || !note.endsWith('\n')) return undefined
  const text = note.slice(0, split + 1)
  const [origin, sizeText = '', rootText = ''] = text.split('\n')
  const root = fromBase64(rootText)
  const signatures = note
    .slice(split + 2, -1)
    .split('\n')
    .map(parseLine)
  if (!origin || !/^(?:0|[1-9][0-9]{0,14})$/.test(sizeText) || root?.length !== 32) return undefined
  if (signatures.some((one) => one === undefined)) return undefined
  return { text, origin, size: Number(sizeText), root, signatures: signatures as NoteSignature[] }
}

function parseLine(line: string): NoteSignature | undefined {
  const [, name, base64] = /^— ([^\s+]{1,255}) ([A-Za-z0-9+/]+={0,2})$/.exec(line) ?? []
  const bytes = base64 === undefined ? undefined : fromBase64(base64)
  if (name === undefined || bytes === undefined || bytes.length < 5) return undefined
  return { name, keyId: toHexText(bytes.slice(0, 4)), signature: bytes.slice(4) }
}

const toHexText = (bytes: Uint8Array) => [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')

export type NoteKey = { name: string; keyId: string; type: number; x: string }

/** A key as `name+id+base64`; undefined unless the id follows from name and key. */
export function parseNoteKey(vkey: string): NoteKey | undefined {
  const [, name, keyId, base64] = /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)$/.exec(vkey) ?? []
  const material = base64 === undefined ? undefined : fromBase64(base64)
  if (name === undefined || keyId === undefined || material?.length !== 33) return undefined
  if (toHexText(hash(utf8(`${name}\n`), material).slice(0, 4)) !== keyId) return undefined
  const x = toBase64(material.slice(1)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
  return { name, keyId, type: material[0] as number, x }
}

const linesOf = (checkpoint: Checkpoint, key: NoteKey) =>
  checkpoint.signatures.filter((one) => one.name === key.name && one.keyId === key.keyId)

export async function isSignedByLog(checkpoint: Checkpoint, key: NoteKey): Promise<boolean> {
  const [line] = linesOf(checkpoint, key)
  return key.type === 1 && line !== undefined && verifyEd25519(key.x, utf8(checkpoint.text), line.signature)
}

/** When the witness signed, in unix seconds; undefined when it did not. */
export async function cosignedAt(checkpoint: Checkpoint, key: NoteKey): Promise<number | undefined> {
  const [line] = linesOf(checkpoint, key)
  if (key.type !== 4 || line?.signature.length !== 72) return undefined
  const seconds = Number(new DataView(line.signature.buffer, line.signature.byteOffset).getBigUint64(0))
  const message = utf8(`cosignature/v1\ntime ${seconds}\n${checkpoint.text}`)
  return (await verifyEd25519(key.x, message, line.signature.slice(8))) ? seconds : undefined
}
