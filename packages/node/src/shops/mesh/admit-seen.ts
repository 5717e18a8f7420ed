import type { MeshStatement } from '@assay/protocol/mesh/read-statement'
import { admitPeer } from './choose-peers.ts'
import type { MeshDeps } from './deps.ts'
import { crowdOut, findPeer, lockPlaces, placedPeers, type Seen, saveSeen } from './store.ts'
import { weighPeers } from './weigh-peers.ts'

export const capabilitiesOf = ({ offers }: MeshStatement) => [...new Set(offers.map((offer) => offer.capability))]

/** Keeps a verified statement; a peer that is new among the living gets its place under one lock, so that the limit holds. */
export async function admitSeen(
  deps: Pick<MeshDeps, 'database' | 'settings' | 'clock' | 'registeredSql'>,
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
    const peers = (await placedPeers(tx, deps.registeredSql)).filter(({ did }) => did !== seen.did)
    const arrived = { ...seen, firstSeenAtMs: nowMs, proven: false, health: 1, weight: 0 }
    // What an operator has at stake weighs for the peer that is here already.
    const other = peers.some(({ operator }) => operator !== undefined && operator === seen.operator)
    const [newcomer = arrived] = other ? [] : await weighPeers(tx, deps.registeredSql, [arrived])
    const { peersMax, peersPerAddressMax } = settings
    const admission = admitPeer(peers, newcomer, { peersMax, peersPerAddressMax, nowMs })
    if (admission.status === 'refuse') return admission.problem
    if (admission.status === 'replace') await crowdOut(tx, admission.did)
    return taken(await saveSeen(tx, seen, nowMs, nextVisitMs))
  })
}
