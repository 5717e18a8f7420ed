import { type Checkpoint, parseCheckpoint } from '../checkpoint.ts'
import { hasLineOf, isSignedBy, type Note, parseNoteKey, signatureTypes } from '../signed-note.ts'
import { followKeys } from './follow-keys.ts'
import type { MonitorHttp } from './types.ts'

export type Head = { note: Note; text: string; checkpoint: Checkpoint }

const noteBytesMax = 65_536
const descriptionBytesMax = 262_144
const keysMax = 16

export type HeadAnswer = { ok: true; head: Head } | { ok: false; kind: 'unreachable' | 'malformed'; reason: string }

export async function readHead(http: MonitorHttp, prefix: string): Promise<HeadAnswer> {
  const answer = await http.get(`${prefix}/checkpoint`, noteBytesMax)
  if (!answer.ok) return { ok: false, kind: 'unreachable', reason: answer.reason }
  if (answer.status !== 200) return { ok: false, kind: 'unreachable', reason: `status ${answer.status}` }
  const head = parseHead(answer.bytes.toString('utf8'))
  return head ? { ok: true, head } : { ok: false, kind: 'malformed', reason: 'not a checkpoint' }
}

export function parseHead(text: string): Head | undefined {
  const parsed = parseCheckpoint(text)
  return parsed && { ...parsed, text }
}

/** Signed by one of these keys, and no line that claims to be of one of them is wrong. */
export function isSignedByLog({ note, checkpoint }: Head, vkeys: readonly string[]): boolean {
  const keys = vkeys
    .flatMap((vkey) => parseNoteKey(vkey) ?? [])
    .filter(({ name, type }) => name === checkpoint.origin && type === signatureTypes.ed25519)
    .filter((key) => hasLineOf(note, key))
  return keys.length > 0 && keys.every((key) => isSignedBy(note, key))
}

/** What an Assay log says of itself at its prefix. Another log has nothing there. */
export type Description = {
  keys: string[]
  keyStatements: unknown
  anchors: { size: number; transaction: string; network: string; anchored: boolean }[]
}

export async function readDescription(http: MonitorHttp, prefix: string): Promise<Description | undefined> {
  const answer = await http.get(prefix, descriptionBytesMax)
  if (!answer.ok || answer.status !== 200) return undefined
  return parseDescription(answer.bytes.toString('utf8'))
}

export function parseDescription(text: string): Description | undefined {
  const value = parseJson(text)
  if (!isRecord(value)) return undefined
  const keys = (Array.isArray(value.keys) ? value.keys : [])
    .filter((key): key is string => typeof key === 'string' && key.length < 500 && parseNoteKey(key) !== undefined)
    .slice(0, keysMax)
  const anchors = (Array.isArray(value.anchors) ? value.anchors : []).slice(0, 32).flatMap((anchor) => {
    if (!isRecord(anchor) || !/^[1-9][0-9]{0,14}$/.test(String(anchor.size))) return []
    if (!/^0x[0-9a-f]{64}$/.test(String(anchor.transaction))) return []
    const network = String(anchor.network).slice(0, 64)
    const anchored = typeof anchor.anchored_at === 'string'
    return [{ size: Number(anchor.size), transaction: String(anchor.transaction), network, anchored }]
  })
  return { keys, keyStatements: value.key_statements, anchors }
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The keys to verify this head with: the pinned ones and those that follow from them, without those taken back. */
export function keysFor(
  head: Head,
  pinned: readonly string[],
  description: Description | undefined,
): Promise<readonly string[]> {
  return followKeys(head.checkpoint.origin, pinned, description?.keyStatements)
}
