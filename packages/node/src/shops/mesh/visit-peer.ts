import { canonicalJson } from '@assay/protocol/canonical-json'
import type { MeshStatement } from '@assay/protocol/mesh/read-statement'
import { admitSeen, capabilitiesOf } from './admit-seen.ts'
import { announceSelf } from './announce-self.ts'
import { recordCandidates } from './candidate-store.ts'
import { checkPeerStatement, type PeerCheck } from './check-peer.ts'
import type { MeshDeps } from './deps.ts'
import { openKnownStatement, verifyKnownStatement } from './known-statements.ts'
import { briefBytesMax, meshPath, newPerVisitMax, viewMax } from './limits.ts'
import { type BriefDocument, readBrief } from './mesh-document.ts'
import type { MeshView, SeenPeer } from './mesh-view.ts'
import type { OwnStatement } from './own-statement.ts'
import { fetchJson } from './peer-fetcher.ts'
import { creditNamer, newerOf, recordChangesRead, saveReported } from './reported-store.ts'
import type { Silence } from './silence.ts'
import { type PeerRow, type PeerState, saveMissed, saveSeenAgain } from './store.ts'
import { readPeerReports } from './take-evidence.ts'
import { firstPauseMs } from './visit-pause.ts'

export type Visit = {
  own: OwnStatement
  /** Until the next one. */
  pauseMs: number
  /** What is known of others is not asked of the database again. */
  view: MeshView
  silence: Silence
  /** Visits it once more, a moment later. */
  again(peer: PeerRow, afterMs: number): void
  /** What others are shown has changed. */
  changed(): void
  signal: AbortSignal
}

/**
 * Asks one peer how it is, believes what it signed, learns whom it knows, and tells it of this node if it has to.
 * Whether it answered well.
 */
export async function visitPeer(deps: MeshDeps, peer: PeerRow, visit: Visit): Promise<boolean> {
  const { clock, settings } = deps
  const { own, signal } = visit
  const startedMs = clock.monotonicMs()
  const url = `${peer.address}${meshPath}?view=brief&since=${sinceOf(peer, visit, clock.nowMs())}`
  const answer = await fetchJson(deps.fetcher, url, briefBytesMax, signal)
  const latencyMs = clock.monotonicMs() - startedMs
  if (signal.aborted) return false
  const document = answer.ok ? readBrief(answer.value) : undefined
  if (!answer.ok || document === undefined)
    return missed(deps, peer, visit, answer.ok ? 'not a mesh document' : answer.reason)
  const check = await checkPeerStatement(deps, peer, document.statement, { signal })
  if (signal.aborted) return false
  if (!check.ok) return missed(deps, peer, visit, check.problem)
  const nowMs = clock.nowMs()
  const networkAddress = check.networkAddress ?? answer.networkAddress
  const known = new Map(visit.view.peers.map((one) => [one.did, one]))
  const changes = changesFor(deps, peer, document, known)
  const changesReadMs = Math.min(nowMs, Math.max(peer.changesReadMs, document.changedUntilMs ?? 0))
  const seen = { ...check, jws: document.statement, networkAddress, latencyMs }
  const problem = await keepSeen(deps, changes.length === 0 ? { ...peer, changesReadMs } : peer, visit, seen)
  if (problem !== undefined) return missed(deps, peer, visit, problem)
  deps.metrics.count('mesh_visits', { outcome: 'ok' })
  if (peer.state === 'candidate') await creditNamer(deps.database, peer.did)
  await learnPeers(deps, peer, document, known)
  await learnChanges(deps, changes, visit)
  if (changes.length > 0) await recordChangesRead(deps.database, peer.did, changesReadMs)
  await visit.silence.onReported(document.silent)
  if (nowMs - peer.reportsReadAtMs >= settings.evidenceEveryMs && mayHaveReports(peer, document))
    await readPeerReports(deps, peer, signal)
  const listed = document.peers.some(({ did }) => did === deps.self.did)
  if (!listed && nowMs - peer.announcedAtMs >= settings.announceEveryMs) await announceSelf(deps, peer, own, { signal })
  return true
}

const sinceStepMs = 10_000

/** Everybody is visited once in a pause: what changed before the last two is known. Whole steps, so that many ask alike. */
function sinceOf({ changesReadMs }: PeerRow, { pauseMs }: Visit, nowMs: number): number {
  const missedMs = Math.floor((nowMs - 2 * pauseMs) / sinceStepMs) * sinceStepMs
  return Math.max(0, changesReadMs, missedMs)
}

type CheckedStatement = Extract<PeerCheck, { ok: true }> & { jws: string; latencyMs: number }

/** Most visits find what was known before: then one row is touched, and nothing else is checked. */
async function keepSeen(
  deps: MeshDeps,
  peer: PeerRow,
  { pauseMs, changed }: Visit,
  { jws, statement, ...check }: CheckedStatement,
): Promise<string | undefined> {
  const nowMs = deps.clock.nowMs()
  const { did, address, foundBy, changesReadMs } = peer
  const seen = { did, sequence: statement.sequence, keysReadAtMs: check.keysReadAtMs, latencyMs: check.latencyMs }
  const again = { ...seen, changesReadMs }
  if (jws === peer.statement && (await saveSeenAgain(deps.database, again, nowMs, nowMs + pauseMs))) return undefined
  const problem = await admitSeen(
    deps,
    {
      ...{ ...seen, address, foundBy, statement: jws, expiresAtMs: Date.parse(statement.expires_at) },
      ...{ keys: check.keys, operator: check.operator, networkAddress: check.networkAddress },
      capabilities: capabilitiesOf(statement),
      onlyRenewed: onlyRenewed(peer.statement, statement, pauseMs),
    },
    nowMs + firstPauseMs(deps.rng, pauseMs),
  )
  changed()
  return problem
}

/** Others visit a peer as often: while its statement outlasts a few visits, only one that says something new is passed on. */
function onlyRenewed(before: string | undefined, now: MeshStatement, pauseMs: number): boolean {
  const last = before === undefined ? undefined : openKnownStatement(before)
  if (last === undefined) return false
  const lifeMs = Date.parse(now.expires_at) - Date.parse(now.issued_at)
  const renewed = { ...last, sequence: now.sequence, issued_at: now.issued_at, expires_at: now.expires_at }
  return pauseMs <= lifeMs / 4 && canonicalJson(renewed) === canonicalJson(now)
}

type KnownPeers = ReadonlyMap<string, SeenPeer>

/** A name that others give is a reason to go and ask, and nothing more. */
async function learnPeers(
  { settings, database, clock, self }: MeshDeps,
  namer: PeerRow,
  { peers }: BriefDocument,
  known: KnownPeers,
): Promise<void> {
  const named = peers.filter(({ did }) => did !== self.did && !known.has(did))
  await recordCandidates(database, named, {
    ...{ foundBy: 'gossip', namedBy: namer.did, nowMs: clock.nowMs(), retryMs: settings.visitEveryMs * 2 },
    ...{ candidatesMax: settings.candidatesMax, perNamerMax: newPerVisitMax },
  })
}

/** Keys that were read so long ago still serve for what others pass on; a visit reads them again. */
const reportedKeysMs = 3_600_000

/** Statements of others that may be newer than what is known. While a view holds all that live, nobody else is asked for. */
function changesFor({ self }: MeshDeps, namer: PeerRow, { changed }: BriefDocument, known: KnownPeers) {
  const unknown = known.size < viewMax ? Number.POSITIVE_INFINITY : 0
  return changed.filter(
    ({ did, sequence }) => did !== self.did && did !== namer.did && sequence > (known.get(did)?.sequence ?? unknown),
  )
}

/** Takes newer statements of peers that this node knows, each under the keys it read itself. Others wait for a visit. */
async function learnChanges(
  deps: MeshDeps,
  changes: BriefDocument['changed'],
  { pauseMs, changed }: Visit,
): Promise<void> {
  const { database } = deps
  const nowMs = deps.clock.nowMs()
  for (const { change, known } of await newerOf(database, changes)) {
    const { did, statement: jws } = change
    if (nowMs - known.keysReadAtMs > reportedKeysMs) continue
    const verdict = await verifyKnownStatement(jws, { address: known.address, keys: known.keys, nowMs })
    if (!verdict.ok || verdict.statement.sequence <= known.sequence) continue
    const { statement } = verdict
    // Another second address must be asked for its keys first.
    const before = known.statement === undefined ? undefined : openKnownStatement(known.statement)
    if (before?.base_url !== statement.base_url) continue
    const reported = {
      ...{ did, sequence: statement.sequence, statement: jws, expiresAtMs: Date.parse(statement.expires_at) },
      capabilities: capabilitiesOf(statement),
      onlyRenewed: onlyRenewed(known.statement, statement, pauseMs),
    }
    if (await saveReported(database, reported, nowMs, nowMs + pauseMs)) changed()
  }
}

/** A node that says until when it was given reports is only asked for what is newer. */
const mayHaveReports = (peer: PeerRow, { evidenceUntilMs, agentsUntilMs }: BriefDocument): boolean =>
  evidenceUntilMs === undefined ||
  agentsUntilMs === undefined ||
  evidenceUntilMs > peer.evidenceReadMs ||
  agentsUntilMs > peer.agentsReadMs

async function missed(deps: MeshDeps, peer: PeerRow, visit: Visit, problem: string): Promise<false> {
  const nowMs = deps.clock.nowMs()
  const failures = peer.failures + 1
  const state = stateAfterMiss(peer, nowMs, deps.settings.deadAfterMs)
  const { visitEveryMs, backoffMaxMs } = deps.settings
  // One that is slow may only have much to do: what others then ask of it would make it slower.
  const isSlow = problem.endsWith('timeout')
  // A suspect peer is tried again soon, so that callers are not sent to a node that is gone; one that cannot be reached,
  // without waiting for a round.
  const isGone = problem === 'connect' && state === 'suspect' && peer.state === 'alive'
  const soonMs = visitEveryMs / 4
  const laterMs = Math.min(backoffMaxMs, visitEveryMs * 2 ** Math.min(failures, 10))
  const nextVisitMs = nowMs + (isGone ? visitEveryMs : state === 'suspect' ? soonMs : laterMs)
  await saveMissed(deps.database, { did: peer.did, problem, state, nextVisitMs })
  if (isGone) visit.again({ ...peer, state, failures }, soonMs)
  deps.metrics.count('mesh_visits', { outcome: 'missed' })
  if (state !== peer.state) visit.changed()
  if (isSlow ? peer.failures === 1 : peer.state === 'alive') visit.silence.reportSilent(peer)
  // An operator who named a peer that cannot be reached should hear of it, once.
  const newsToOperator = state !== peer.state || (peer.foundBy === 'seed' && peer.failures === 0)
  if (newsToOperator) deps.log.info({ peer: peer.did, state, problem }, 'a peer of the mesh did not answer well')
  return false
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
