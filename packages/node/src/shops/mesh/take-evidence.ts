import { createHash } from 'node:crypto'
import { canonicalJson, type Json } from '@assay/protocol/canonical-json'
import { isRecord } from '@assay/protocol/json-object'
import { priceEvidenceMs, purchaseEvidenceMs, readEvidence, verifyMeshEvidence } from '@assay/protocol/mesh/evidence'
import type { MeshStatement } from '@assay/protocol/mesh/read-statement'
import type { PeerKey } from '@assay/protocol/mesh/statement'
import { keyDirectory } from '@assay/till/signing'
import type { MeshDeps } from './deps.ts'
import { deleteEvidence, saveEvidence } from './evidence-store.ts'
import { openKnownStatement } from './known-statements.ts'
import { agentsPath, evidenceBytesMax, evidencePageMax, evidencePath } from './limits.ts'
import { ownStatement } from './own-statement.ts'
import { fetchJson } from './peer-fetcher.ts'
import { keysIn } from './read-peer-keys.ts'
import { findPeer, hidePeer, markReportsRead, type PeerRow } from './store.ts'

export type Taken = { status: 'taken' | 'known' } | { status: 'refused'; reason: string } | { status: 'unknown_node' }

/** Takes in what a buyer signed about a node that is known here. Nothing is fetched for it. */
export async function takeEvidence(deps: MeshDeps, value: unknown): Promise<Taken> {
  const { database, clock } = deps
  const evidence = readEvidence(value)
  if (evidence === undefined) return { status: 'refused', reason: 'malformed' }
  const about = await subjectOf(deps, evidence.node)
  if (about === undefined) return { status: 'unknown_node' }
  const nowMs = clock.nowMs()
  const verdict = await verifyMeshEvidence(evidence, { ...about, nowMs })
  if (!verdict.ok) return { status: 'refused', reason: verdict.reason }
  const { kind, capability, atMs } = verdict
  const id = createHash('sha256')
    .update(canonicalJson(evidence as unknown as Json))
    .digest('hex')
  return database.transaction(async (tx) => {
    const saved = await saveEvidence(tx, { id, evidence, kind, capability, atMs, nowMs })
    if (!saved) return { status: 'known' }
    if (kind === 'price') {
      await hidePeer(tx, evidence.node, atMs + priceEvidenceMs)
      deps.metrics.count('mesh_price_mismatches')
      deps.log.warn({ peer: evidence.node, capability }, 'a buyer proved that a peer asks other prices than it states')
    }
    return { status: 'taken' }
  })
}

type Subject = { address: string; current: MeshStatement; keys: readonly PeerKey[] }

async function subjectOf(deps: MeshDeps, did: string): Promise<Subject | undefined> {
  if (did === deps.self.did) {
    const { statement } = await ownStatement(deps)
    return { address: deps.self.origin, current: statement, keys: keysIn(keyDirectory(deps.keyring)) ?? [] }
  }
  const peer = await findPeer(deps.database, did)
  const current = peer?.statement === undefined ? undefined : openKnownStatement(peer.statement)
  if (peer === undefined || current === undefined || peer.state === 'candidate' || peer.state === 'dead')
    return undefined
  return { address: peer.address, current, keys: peer.keys }
}

/** Reads what a peer was given since the last time; each piece is verified here as if its author had brought it. */
export async function readPeerReports(deps: MeshDeps, peer: PeerRow, signal: AbortSignal): Promise<void> {
  const evidence = await readSince(deps, peer, `${evidencePath}?since=${peer.evidenceReadMs}`, signal)
  for (const entry of evidence?.data ?? []) if (isRecord(entry)) await takeEvidence(deps, entry.evidence)
  const agents = await readSince(deps, peer, `${agentsPath}?since=${peer.agentsReadMs}`, signal)
  for (const entry of agents?.data ?? []) await deps.takeDeclaration(entry, peer.did).catch(() => {})
  await markReportsRead(deps.database, peer.did, {
    nowMs: deps.clock.nowMs(),
    evidenceMs: evidence?.untilMs ?? peer.evidenceReadMs,
    agentsMs: agents?.untilMs ?? peer.agentsReadMs,
  })
}

async function readSince(deps: MeshDeps, peer: PeerRow, path: string, signal: AbortSignal) {
  const answer = await fetchJson(deps.fetcher, `${peer.address}${path}`, evidenceBytesMax, signal)
  if (!answer.ok || !isRecord(answer.value) || !Array.isArray(answer.value.data)) return undefined
  const { data, until_ms: untilMs } = answer.value
  // A peer that names a time far ahead would never be read again.
  const readMs = Number.isSafeInteger(untilMs) ? Math.min(untilMs as number, deps.clock.nowMs()) : 0
  return { data: (data as unknown[]).slice(0, evidencePageMax), untilMs: Math.max(0, readMs) }
}

export const deleteOldEvidence = ({ database, clock }: Pick<MeshDeps, 'database' | 'clock'>) =>
  deleteEvidence(database, {
    priceMs: clock.nowMs() - priceEvidenceMs,
    purchaseMs: clock.nowMs() - purchaseEvidenceMs,
  })
