import { isRecord, parseJson } from '@assay/protocol/json-object'
import { parseCheckpoint, type SignedHead } from '@assay/protocol/log/checkpoint'
import { parseNoteKey } from '@assay/protocol/log/signed-note'
import { followKeys } from './follow-keys.ts'
import type { MonitorHttp } from './types.ts'

/** `note` is the whole of it, as it was received. */
export type Head = SignedHead & { note: string }

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

export function parseHead(note: string): Head | undefined {
  const parsed = parseCheckpoint(note)
  return parsed && { ...parsed, note }
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

/** The keys to verify this head with: the pinned ones and those that follow from them, without those revoked. */
export function keysFor(
  head: Head,
  pinned: readonly string[],
  description: Description | undefined,
): Promise<readonly string[]> {
  return followKeys(head.origin, pinned, description?.keyStatements)
}
