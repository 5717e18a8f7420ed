import type { PeerKey } from '@assay/protocol/mesh/statement'
import type { MeshDeps } from './deps.ts'
import { fetchJson } from './peer-fetcher.ts'
import { readPeerKeys } from './read-peer-keys.ts'
import { findPeer } from './store.ts'

export type PeerAnswer = { value: unknown; address: string; keys: readonly PeerKey[] }

const answerBytesMax = 1_048_576
/** A key that was revoked must stop counting before long. */
const keysFreshMs = 300_000

/** Reads from nodes that this one knows as living peers, and from nobody else. */
export function createPeerReader(deps: Pick<MeshDeps, 'database' | 'clock' | 'fetcher'>) {
  const kept = new Map<string, { keys: readonly PeerKey[]; readAtMs: number }>()
  const keysOf = async (address: string) => {
    const known = kept.get(address)
    if (known && deps.clock.monotonicMs() - known.readAtMs < keysFreshMs) return known.keys
    const read = await readPeerKeys(deps.fetcher, address)
    if (!read.ok) return undefined
    kept.set(address, { keys: read.keys, readAtMs: deps.clock.monotonicMs() })
    return read.keys
  }
  return {
    read: async (did: string, path: string): Promise<PeerAnswer | undefined> => {
      const peer = await findPeer(deps.database, did)
      if (peer?.state !== 'alive') return undefined
      const answer = await fetchJson(deps.fetcher, `${peer.address}${path}`, answerBytesMax)
      if (!answer.ok) return undefined
      const keys = await keysOf(peer.address)
      return keys && { value: answer.value, address: peer.address, keys }
    },
  }
}
