import { parseCheckpoint, witnessedAt } from '@assay/protocol/log/checkpoint'
import { isSignedBy, type NoteKey, parseNoteKey } from '@assay/protocol/log/signed-note'
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
  /** Keys of peers that have cosigned this log: who has seen it is asked before strangers are. */
  known: readonly string[],
): Promise<PeerHead[]> {
  const own = log.keys().flatMap((vkey) => parseNoteKey(vkey) ?? [])
  const asked = (await peers.witnesses(known)).slice(0, askedMax)
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
  return (await isCosigned(note, origin, key, own)) ? { source: witness.url, note } : undefined
}

export async function isCosigned(
  note: string,
  origin: string,
  witness: NoteKey,
  own: readonly NoteKey[],
): Promise<boolean> {
  const parsed = parseCheckpoint(note)
  if (parsed?.origin !== origin) return false
  if ((await witnessedAt(parsed, witness)) === undefined) return false
  const signed = await Promise.all(own.map((key) => isSignedBy(parsed, key)))
  return signed.includes(true)
}
