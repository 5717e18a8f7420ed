import { announceSelf } from './announce-self.ts'
import { sample } from './choose-peers.ts'
import type { MeshDeps } from './deps.ts'
import { silentMax, silentTakenMax } from './limits.ts'
import type { MeshViews } from './mesh-view.ts'
import { takeSilentPeers } from './reported-store.ts'
import { findPeer, type PeerRow } from './store.ts'

/** What this node does about peers that stop answering, so that all nodes drop such a peer soon, even if each visits it rarely. */
export type Silence = {
  /**
   * Another node got no answer from these peers, so this node visits them; the report alone changes nothing. If this
   * node is one of them, it announces itself to the node that reported it.
   */
  onReported(dids: readonly string[], from?: string): Promise<void>
  /** Reports a peer that stopped answering: to that peer and to a few others, which pass it on. */
  reportSilent(peer: Missed): void
}

type Missed = Pick<PeerRow, 'did' | 'address'>

/** With fewer, about one node of fifty would never receive the report. */
const reportedTo = 6
/** Peers on one machine stop answering together, and one announcement names them all. */
const gatherMs = 100

export type SilenceWork = {
  visit(peer: PeerRow): Promise<unknown>
  start(what: string, work: Promise<unknown>): void
  signal: AbortSignal
}

export function createSilence(deps: MeshDeps, views: MeshViews, { visit, start, signal }: SilenceWork): Silence {
  const { clock, settings, database } = deps
  const gathered = new Map<string, Missed>()
  const reportGathered = async () => {
    await clock.sleep(gatherMs, signal)
    // Sent to the missed peers too: one that was only busy, or unreachable in one direction, can answer.
    const missed = [...gathered.values()].slice(0, silentMax)
    const silent = missed.map(({ did }) => did)
    gathered.clear()
    const view = await views.current(settings.visitEveryMs)
    const others = view.peers.filter(({ did, state }) => state === 'alive' && !silent.includes(did))
    await Promise.all(
      [...missed, ...sample(others, reportedTo, deps.rng)].map((peer) =>
        announceSelf(deps, peer, view.own, { signal, silent }),
      ),
    )
  }
  const answer = async (from: string) => {
    const peer = await findPeer(database, from)
    if (peer === undefined || clock.nowMs() - peer.announcedAtMs < settings.announceEveryMs) return
    const { own } = await views.current(settings.visitEveryMs)
    await announceSelf(deps, peer, own, { signal })
  }
  return {
    onReported: async (dids, from) => {
      if (from !== undefined && dids.includes(deps.self.did)) start('an answer to a peer', answer(from))
      const nowMs = clock.nowMs()
      const seenBeforeMs = nowMs - settings.visitEveryMs / 3
      const known = new Map(views.latest()?.peers.map((peer) => [peer.did, peer]))
      const unseen = dids.filter((did) => (known.get(did)?.lastSeenAtMs ?? nowMs) < seenBeforeMs)
      const times = { nowMs, seenBeforeMs, leaseMs: settings.visitTimeoutMs * 4, limit: silentTakenMax }
      for (const peer of await takeSilentPeers(database, unseen, times)) start('a visit to a peer', visit(peer))
    },
    reportSilent: (peer) => {
      gathered.set(peer.did, peer)
      if (gathered.size === 1) start('report of a silent peer', reportGathered())
    },
  }
}
