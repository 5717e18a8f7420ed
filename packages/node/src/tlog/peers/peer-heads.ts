import { cosignedAt, parseCheckpoint } from '../checkpoint.ts'
import { isSignedBy, type NoteKey, parseNoteKey } from '../signed-note.ts'
import { originHash } from '../witness-store.ts'
import type { PeerLogs, PeerWitness } from './peer-logs.ts'
import { witnessKeyOf } from './peer-witness.ts'

export type PeerHead = { source: string; note: string }

const askedMax = 16
const noteBytesMax = 20_000

/**
 * The heads of this log that peers cosigned last, as C2SP's read call of a witness gives them: what others have seen of
 * this log, whatever its own database says. Only heads that both the peer and a key of this log signed are returned.
 */
export async function peerHeads(
  peers: Pick<PeerLogs, 'witnesses' | 'fetch'>,
  log: { origin: string; keys(): readonly string[] },
): Promise<PeerHead[]> {
  const own = log.keys().flatMap((vkey) => parseNoteKey(vkey) ?? [])
  const asked = (await peers.witnesses()).slice(0, askedMax)
  const heads = await Promise.all(asked.map((witness) => readHead(peers, witness, log.origin, own)))
  return heads.flatMap((head) => head ?? [])
}

async function readHead(
  peers: Pick<PeerLogs, 'fetch'>,
  witness: PeerWitness,
  origin: string,
  own: readonly NoteKey[],
): Promise<PeerHead | undefined> {
  const key = witnessKeyOf(witness)
  if (!key) return undefined
  const answer = await peers.fetch(`${witness.url}/${originHash(origin)}/checkpoint`, { maxBytes: noteBytesMax })
  if (answer.status !== 'ok' || answer.httpStatus !== 200) return undefined
  const note = Buffer.from(answer.bytes).toString('utf8')
  return isCosigned(note, origin, key, own) ? { source: witness.url, note } : undefined
}

export function isCosigned(note: string, origin: string, witness: NoteKey, own: readonly NoteKey[]): boolean {
  const parsed = parseCheckpoint(note)
  if (parsed?.checkpoint.origin !== origin) return false
  const { text, signatures } = parsed.note
  const cosigned = signatures.some((one) => cosignedAt(text, one, witness) !== undefined)
  return cosigned && own.some((key) => isSignedBy(parsed.note, key))
}
