import { admitPeer } from './choose-peers.ts'
import type { MeshDeps } from './deps.ts'
import { crowdOut, findPeer, lockPlaces, placedPeers, type Seen, saveSeen } from './store.ts'

/** Keeps a verified statement; a peer that is new among the living gets its place under one lock, so that the limit holds. */
export async function admitSeen(
  deps: Pick<MeshDeps, 'database' | 'settings' | 'clock'>,
  seen: Seen,
  nextVisitMs: number,
): Promise<string | undefined> {
  const { database, settings, clock } = deps
  const nowMs = clock.nowMs()
  const taken = (saved: boolean) => (saved ? undefined : 'statement: another one arrived in the meantime')
  const known = await findPeer(database, seen.did)
  if (known?.state === 'alive' || known?.state === 'suspect')
    return taken(await saveSeen(database, seen, nowMs, nextVisitMs))
  return database.transaction(async (tx) => {
    await lockPlaces(tx)
    const peers = (await placedPeers(tx)).filter(({ did }) => did !== seen.did)
    const newcomer = { ...seen, firstSeenAtMs: nowMs, proven: false, health: 1 }
    const { peersMax, peersPerAddressMax } = settings
    const admission = admitPeer(peers, newcomer, { peersMax, peersPerAddressMax, nowMs })
    if (admission.status === 'refuse') return admission.problem
    if (admission.status === 'replace') await crowdOut(tx, admission.did)
    return taken(await saveSeen(tx, seen, nowMs, nextVisitMs))
  })
}
