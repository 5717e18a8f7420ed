import type { MeshStatement } from '@assay/protocol/mesh/read-statement'
import type { Sql } from '@assay/till/store/database'
import { admitPeer } from './choose-peers.ts'
import type { MeshDeps } from './deps.ts'
import { evictPeer, lockPlaces, type Seen, saveSeen, weighNewcomers } from './store.ts'

export const capabilitiesOf = ({ offers }: MeshStatement) => [...new Set(offers.map((offer) => offer.capability))]

type AdmitDeps = Pick<MeshDeps, 'database' | 'settings' | 'clock' | 'registeredSql'>
type Arrival = Seen & { nextVisitMs: number }
/** Why a statement is not kept, by the name of its node. */
type Refusals = Map<string, string>
type Waiting = { arrival: Arrival; settle(outcome: Promise<Refusals>): void }

const togetherMax = 64
const queues = new WeakMap<Sql, Waiting[]>()

/**
 * Keeps a verified statement; a peer that is new among the living gets its place under one lock, so that the limit holds.
 * Those that arrive while others are being taken in are taken in together: waiting for the lock, each would hold a connection.
 */
export function admitSeen(deps: AdmitDeps, seen: Seen, nextVisitMs: number): Promise<string | undefined> {
  const queue = queues.get(deps.database)
  const waiting = queue ?? []
  const refusals = new Promise<Refusals>((resolve) => {
    waiting.push({ arrival: { ...seen, nextVisitMs }, settle: resolve })
  })
  if (queue === undefined) {
    queues.set(deps.database, waiting)
    void takeIn(deps, waiting)
  }
  return refusals.then((problems) => problems.get(seen.did))
}

async function takeIn(deps: AdmitDeps, waiting: Waiting[]): Promise<void> {
  while (waiting.length > 0) {
    // Each node once: the second statement of one is compared with the first.
    const together = new Map<string, Waiting>()
    for (const one of waiting)
      if (together.size < togetherMax && !together.has(one.arrival.did)) together.set(one.arrival.did, one)
    const chosen = [...together.values()]
    waiting.splice(0, waiting.length, ...waiting.filter((one) => !chosen.includes(one)))
    const outcome = admitTogether(
      deps,
      chosen.map(({ arrival }) => arrival),
    )
    const failed = await outcome.then(
      () => false,
      () => true,
    )
    for (const { arrival, settle } of chosen) {
      // One that the database does not take spoils it for nobody else.
      const alone = failed && chosen.length > 1 ? admitTogether(deps, [arrival]) : outcome
      settle(alone)
      await alone.catch(() => {})
    }
  }
  queues.delete(deps.database)
}

function admitTogether({ database, settings, clock, registeredSql }: AdmitDeps, arrivals: readonly Arrival[]) {
  const nowMs = clock.nowMs()
  const { peersMax, peersPerAddressMax } = settings
  return database.transaction(async (tx): Promise<Refusals> => {
    const refusals: Refusals = new Map()
    await lockPlaces(tx)
    const arrived = arrivals.map((seen) => ({ ...seen, firstSeenAtMs: nowMs, proven: false, health: 1, weight: 0 }))
    const { placed, newcomers } = await weighNewcomers(tx, registeredSql, arrived)
    const peers = new Map(placed.map((peer) => [peer.did, peer]))
    for (const newcomer of newcomers) {
      const admission = admitPeer([...peers.values()], newcomer, { peersMax, peersPerAddressMax, nowMs })
      if (admission.status === 'refuse') refusals.set(newcomer.did, admission.problem)
      else peers.set(newcomer.did, newcomer)
      if (admission.status !== 'replace') continue
      peers.delete(admission.did)
      await evictPeer(tx, admission.did)
      refusals.set(admission.did, 'full: another peer has its place')
    }
    const kept = arrivals.filter(({ did }) => !refusals.has(did))
    const saved = await saveSeen(tx, kept, nowMs)
    for (const { did } of kept) if (!saved.has(did)) refusals.set(did, 'statement: another one arrived in the meantime')
    return refusals
  })
}
