import { type NoteKey, parseNoteKey, signatureTypes } from '@assay/protocol/log/signed-note'
import type { WitnessPeer } from '../index.ts'
import type { PeerLogs, PeerWitness } from './peer-logs.ts'

const answerBytesMax = 10_000

export function witnessKeyOf({ key }: Pick<PeerWitness, 'key'>): NoteKey | undefined {
  const parsed = parseNoteKey(key)
  return parsed?.type === signatureTypes.cosignature ? parsed : undefined
}

/** The witness of a mesh peer, reached through the outbound port. */
export function peerWitness(peers: Pick<PeerLogs, 'fetch'>, { url }: PeerWitness, key: NoteKey): WitnessPeer {
  return {
    key,
    peer: true,
    addCheckpoint: async (body) => {
      const answer = await peers.fetch(`${url}/add-checkpoint`, {
        method: 'POST',
        headers: { 'content-type': 'text/plain; charset=utf-8' },
        body,
        maxBytes: answerBytesMax,
      })
      if (answer.status !== 'ok') throw new Error(answer.reason)
      return {
        status: answer.httpStatus,
        contentType: answer.headers.get('content-type') ?? '',
        body: Buffer.from(answer.bytes).toString('utf8'),
      }
    },
  }
}
