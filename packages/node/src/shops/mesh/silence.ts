import { announceSelf } from './announce-self.ts'
import { sample } from './choose-peers.ts'
import type { MeshDeps } from './deps.ts'
import { silentMax, silentTakenMax } from './limits.ts'
import type { MeshViews } from './mesh-view.ts'
import { takeSilentPeers } from './reported-store.ts'
import { findPeer, type PeerRow } from './store.ts'

/** What this node does about peers that stop to answer, so that all drop one soon however rarely each of them visits it. */
export type Silence = {
  /**
   * Another node got no answer from these: a reason to go and ask them, and nothing more. If this node is one of them, it
   * announces itself to the node that said so.
   */
  heard(dids: readonly string[], from?: string): Promise<void>
  /** Reports a peer that stopped answering: to that peer and to a few others, which pass it on. */
  met(peer: Missed): void
}

type Missed = Pick<PeerRow, 'did' | 'address'>

/** With fewer, one node of fifty would be left that nobody reports it to. */
const reportedTo = 6
/** Peers on one machine go silent together. */
const gatherMs = 100

export type SilenceWork = {
  visit(peer: PeerRow): Promise<unknown>
  start(what: string, work: Promise<unknown>): void
  signal: AbortSignal
}

export function createSilence(deps: MeshDeps, views: MeshViews, { visit, start, signal }: SilenceWork): Silence {
  const { clock, settings, database } = deps
  const gathered = new Map<string, Missed>()
  const tell = async () => {
    await clock.sleep(gatherMs, signal)
    // One that only had much to do, or was cut off one way, can say so.
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
    heard: async (dids, from) => {
      if (from !== undefined && dids.includes(deps.self.did)) start('an answer to a peer', answer(from))
      const nowMs = clock.nowMs()
      const seenBeforeMs = nowMs - settings.visitEveryMs / 3
      const known = new Map(views.latest()?.peers.map((peer) => [peer.did, peer]))
      const unseen = dids.filter((did) => (known.get(did)?.lastSeenAtMs ?? nowMs) < seenBeforeMs)
      const times = { nowMs, seenBeforeMs, leaseMs: settings.visitTimeoutMs * 4, limit: silentTakenMax }
      for (const peer of await takeSilentPeers(database, unseen, times)) start('a visit to a peer', visit(peer))
    },
    met: (peer) => {
      gathered.set(peer.did, peer)
      if (gathered.size === 1) start('word of a silent peer', tell())
    },
  }
}
