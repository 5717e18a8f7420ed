import { openStatement, verifyMeshStatement } from '@assay/protocol/mesh/statement'
import { admitSeen, capabilitiesOf } from './admit-seen.ts'
import { announceSelf } from './announce-self.ts'
import { checkPeerStatement } from './check-peer.ts'
import type { MeshDeps } from './deps.ts'
import { briefBytesMax, meshPath, newPerVisitMax, silentTakenMax } from './limits.ts'
import { type BriefDocument, readBrief } from './mesh-document.ts'
import type { OwnStatement } from './own-statement.ts'
import { fetchJson } from './peer-fetcher.ts'
import { creditNamer, newerOf, recordChangesRead, saveHeard, visitSoon } from './reported-store.ts'
import { type PeerRow, type PeerState, recordCandidate, saveMissed } from './store.ts'
import { readPeerReports } from './take-evidence.ts'
import { unheardOf } from './unheard-of.ts'

/** Asks one peer how it is, believes what it signed, learns whom it knows, and tells it of this node if it has to. */
export async function visitPeer(
  deps: MeshDeps,
  peer: PeerRow,
  { own, pauseMs, signal }: { own: OwnStatement; pauseMs: number; signal: AbortSignal },
): Promise<void> {
  const { clock, settings } = deps
  const startedMs = clock.monotonicMs()
  const url = `${peer.address}${meshPath}?view=brief&since=${peer.changesReadMs}`
  const answer = await fetchJson(deps.fetcher, url, briefBytesMax, signal)
  const latencyMs = clock.monotonicMs() - startedMs
  if (signal.aborted) return
  const document = answer.ok ? readBrief(answer.value) : undefined
  if (document === undefined) return missed(deps, peer, answer.ok ? 'not a mesh document' : answer.reason)
  const check = await checkPeerStatement(deps, peer, document.statement, { signal })
  if (signal.aborted) return
  if (!check.ok) return missed(deps, peer, check.problem)
  const nowMs = clock.nowMs()
  const problem = await admitSeen(
    deps,
    {
      did: peer.did,
      address: peer.address,
      foundBy: peer.foundBy,
      sequence: check.statement.sequence,
      statement: document.statement,
      expiresAtMs: Date.parse(check.statement.expires_at),
      keys: check.keys,
      keysReadAtMs: check.keysReadAtMs,
      operator: check.operator,
      capabilities: capabilitiesOf(check.statement),
      networkAddress: check.networkAddress ?? (answer.ok ? answer.networkAddress : undefined),
      latencyMs,
    },
    nowMs + pauseMs,
  )
  if (problem !== undefined) return missed(deps, peer, problem)
  deps.metrics.count('mesh_visits', { outcome: 'ok' })
  if (peer.state === 'candidate') await creditNamer(deps.database, peer.did)
  await learnPeers(deps, peer, document)
  await learnChanges(deps, peer, document, pauseMs)
  await learnSilent(deps, document)
  if (nowMs - peer.reportsReadAtMs >= settings.evidenceEveryMs) await readPeerReports(deps, peer, signal)
  const listed = document.peers.some((known) => known.did === deps.self.did)
  if (!listed && nowMs - peer.announcedAtMs >= settings.announceEveryMs) await announceSelf(deps, peer, own, signal)
}

/** A name heard from others is a reason to go and ask, and nothing more. */
async function learnPeers(deps: MeshDeps, namer: PeerRow, { peers }: BriefDocument): Promise<void> {
  const { settings, database } = deps
  const limits = {
    nowMs: deps.clock.nowMs(),
    retryMs: settings.visitEveryMs * 2,
    candidatesMax: settings.candidatesMax,
    perNamerMax: newPerVisitMax,
  }
  let fresh = 0
  for (const peer of await unheardOf(database, peers)) {
    if (peer.did === deps.self.did) continue
    if (await recordCandidate(database, { ...peer, foundBy: 'gossip', namedBy: namer.did }, limits)) fresh += 1
    if (fresh >= newPerVisitMax) return
  }
}

/** Keys that were read so long ago still serve for what others pass on; a visit reads them again. */
const heardKeysMs = 3_600_000

/** Takes newer statements of peers that this node knows, each under the keys it read itself. Others wait for a visit. */
async function learnChanges(deps: MeshDeps, namer: PeerRow, document: BriefDocument, pauseMs: number): Promise<void> {
  const { database } = deps
  const nowMs = deps.clock.nowMs()
  const others = document.changed.filter(({ did }) => did !== deps.self.did && did !== namer.did)
  for (const { change, known } of await newerOf(database, others)) {
    const { did, statement: jws } = change
    if (nowMs - known.keysReadAtMs > heardKeysMs) continue
    const verdict = await verifyMeshStatement(jws, { address: known.address, keys: known.keys, nowMs })
    if (!verdict.ok || verdict.statement.sequence <= known.sequence) continue
    const { statement } = verdict
    // Another second address must be asked for its keys first.
    const before = known.statement === undefined ? undefined : openStatement(known.statement)
    if (before?.base_url !== statement.base_url) continue
    const heard = { did, sequence: statement.sequence, statement: jws, capabilities: capabilitiesOf(statement) }
    await saveHeard(database, { ...heard, expiresAtMs: Date.parse(statement.expires_at) }, nowMs, nowMs + pauseMs)
  }
  const { changedUntilMs } = document
  if (changedUntilMs !== undefined && changedUntilMs > namer.changesReadMs)
    await recordChangesRead(database, namer.did, Math.min(changedUntilMs, nowMs))
}

/** That another node got no answer from a peer is a reason to go and ask it, and nothing more. */
async function learnSilent({ database, clock, settings }: MeshDeps, { silent }: BriefDocument): Promise<void> {
  const nowMs = clock.nowMs()
  await visitSoon(database, silent, { nowMs, seenBeforeMs: nowMs - settings.visitEveryMs, limit: silentTakenMax })
}

async function missed(deps: MeshDeps, peer: PeerRow, problem: string): Promise<void> {
  const nowMs = deps.clock.nowMs()
  const failures = peer.failures + 1
  const state = stateAfterMiss(peer, nowMs, deps.settings.deadAfterMs)
  const { visitEveryMs, backoffMaxMs } = deps.settings
  // A doubt is settled soon: anyone who asks for a node should not hear of one that is gone.
  const pauseMs =
    state === 'suspect' ? visitEveryMs / 4 : Math.min(backoffMaxMs, visitEveryMs * 2 ** Math.min(failures, 10))
  await saveMissed(deps.database, { did: peer.did, problem, state, nextVisitMs: nowMs + pauseMs })
  deps.metrics.count('mesh_visits', { outcome: 'missed' })
  // An operator who named a peer that cannot be reached should hear of it, once.
  const newsToOperator = state !== peer.state || (peer.foundBy === 'seed' && peer.failures === 0)
  if (newsToOperator) deps.log.info({ peer: peer.did, state, problem }, 'a peer of the mesh did not answer well')
}

/** One missed visit is a doubt, several over some time are an end. */
export function stateAfterMiss(
  peer: Pick<PeerRow, 'state' | 'failures' | 'lastSeenAtMs'>,
  nowMs: number,
  deadAfterMs: number,
): PeerState {
  if (peer.state === 'candidate' || peer.state === 'dead') return peer.state
  const silentMs = nowMs - (peer.lastSeenAtMs ?? 0)
  return peer.failures >= 1 && silentMs > deadAfterMs ? 'dead' : 'suspect'
}
