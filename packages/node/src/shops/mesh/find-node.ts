import type { Sql } from '@assay/till/store/database'
import { openKnownStatement } from './known-statements.ts'
import { findPeer } from './store.ts'

/** A node of the mesh that this node has seen: what a resolver of did:web can say of it. */
export type MeshNode = {
  did: string
  url: string
  baseUrl: string
  name: string
  /** Those that may sign now. */
  keys: readonly { keyId: string; x: string }[]
  state: 'alive' | 'suspect' | 'dead'
  seenAtMs: number
  capabilities: readonly string[]
}

export async function findMeshNode(sql: Sql, did: string, nowMs: number): Promise<MeshNode | undefined> {
  const peer = await findPeer(sql, did)
  const content = peer?.statement === undefined ? undefined : openKnownStatement(peer.statement)
  if (peer === undefined || content === undefined || peer.state === 'candidate') return undefined
  const current = peer.keys.filter(({ exp }) => exp === undefined || exp * 1000 > nowMs)
  return {
    did: peer.did,
    url: peer.address,
    baseUrl: content.base_url,
    name: content.name,
    keys: current.map(({ kid, x }) => ({ keyId: kid, x })),
    state: peer.state,
    seenAtMs: peer.lastSeenAtMs ?? 0,
    capabilities: [...new Set(content.offers.map((offer) => offer.capability))].sort(),
  }
}
