import { setMaxListeners } from 'node:events'
import { parseNodeAddress } from '@assay/protocol/mesh/node-address'
import { announceSelf } from './announce-self.ts'
import { deletePeers, recordCandidates } from './candidate-store.ts'
import { checkPrices } from './check-prices.ts'
import { sample } from './choose-peers.ts'
import type { MeshDeps } from './deps.ts'
import { type Due, findDue, takeDuePeers } from './due-store.ts'
import { readListings } from './listings.ts'
import type { MeshViews, SeenPeer } from './mesh-view.ts'
import type { OwnStatement } from './own-statement.ts'
import type { MeshSettings } from './settings.ts'
import { type PeerRow, takePriceCheck } from './store.ts'
import { deleteOldEvidence } from './take-evidence.ts'
import { visitPeer } from './visit-peer.ts'

export type Rounds = {
  /** One turn of keeping up: renew the own statement, look after seeds, visit who is due, check somebody's prices. */
  run(): Promise<void>
  /** Resolves when no visit is under way. */
  idle(): Promise<void>
  /** Ends what is under way and waits for it. */
  stop(): Promise<void>
}

const visitsAtOnceMax = 16
const pushedTo = 8
/** So many pauses between visits without any peer, five minutes as a node is set up, are worth an alarm. */
const lonelyVisits = 20

export function createRounds(deps: MeshDeps, views: MeshViews): Rounds {
  const { database, clock, settings } = deps
  const stopping = new AbortController()
  // Each visit listens to it in several places; that is no leak.
  setMaxListeners(visitsAtOnceMax * 8, stopping.signal)
  // Visits outlive their round: one peer that stalls must not keep the others waiting.
  const inProgress = new Set<Promise<void>>()
  const start = (what: string, work: Promise<unknown>) => {
    const visit = work
      .then(() => {})
      .catch((error: unknown) => {
        if (!stopping.signal.aborted) deps.log.warn({ error: String(error) }, `${what} failed`)
      })
      .finally(() => inProgress.delete(visit))
    inProgress.add(visit)
  }
  const alone = createLonelyAlarm(deps)
  let listingsDueMs = 0
  let evidenceDueMs = 0
  let pushed = ''
  /** What this node offers has changed: a few peers hear of it now, and others from them. */
  const push = (peers: readonly SeenPeer[], own: OwnStatement) => {
    const offers = JSON.stringify(own.statement.offers)
    const first = pushed === ''
    if (offers === pushed) return
    pushed = offers
    if (first) return
    for (const peer of sample(peers, pushedTo, deps.rng))
      start('a push to a peer', announceSelf(deps, peer, own, stopping.signal))
  }
  const idle = async () => {
    await Promise.all(inProgress)
  }
  return {
    run: async () => {
      if (stopping.signal.aborted) return
      if (deps.dnsSeeds.due()) start('a lookup of nodes in DNS', deps.dnsSeeds.refresh(stopping.signal))
      if (settings.listings.length > 0 && clock.monotonicMs() >= listingsDueMs) {
        listingsDueMs = clock.monotonicMs() + settings.listingsEveryMs
        start('a check of listings', readListings(deps, stopping.signal))
      }
      const room = Math.max(0, visitsAtOnceMax - inProgress.size)
      const due = await findWork(deps, room)
      // A node that is alone has nothing to keep up with.
      if (!due.anybody) {
        if (views.latest()?.peers.length) await views.refresh()
        deps.metrics.gauge('mesh_peers', 0)
        return
      }
      const before = await views.current(settings.visitEveryMs)
      const visit = {
        own: before.own,
        view: before,
        pauseMs: visitPauseMs(settings, due.live),
        signal: stopping.signal,
      }
      for (const peer of await takeDue(deps, due, room)) start('a visit to a peer', visitPeer(deps, peer, visit))
      push(before.peers, before.own)
      if (due.prices) start('a check of prices', pollPrices(deps, stopping.signal))
      await waitAtMost(deps, [...inProgress], settings.visitEveryMs / 2)
      if (clock.monotonicMs() >= evidenceDueMs) {
        evidenceDueMs = clock.monotonicMs() + settings.evidenceEveryMs
        await deleteOldEvidence(deps)
      }
      const view = await views.refresh()
      deps.metrics.gauge('mesh_peers', view.peers.length)
      alone(view.peers.length)
    },
    idle,
    stop: async () => {
      stopping.abort(new Error('the shop closes'))
      await idle()
    },
  }
}

/** With many peers each is visited more rarely: others tell what changes in the meantime. */
export function visitPauseMs({ visitEveryMs, visitsPerMinute }: MeshSettings, live: number): number {
  return Math.max(visitEveryMs, Math.ceil((live * 60_000) / visitsPerMinute))
}

/** However many peers are listed, a quarter of the visits goes to those that are not: seeds, candidates, the dead. */
async function takeDue({ database, clock, settings }: MeshDeps, due: Due, room: number): Promise<PeerRow[]> {
  const first = due.others.slice(0, Math.ceil(room / 4))
  const dids = [...first, ...due.shown.slice(0, room - first.length), ...due.others.slice(first.length)].slice(0, room)
  // As long as a visit with announcement may take; then another process may try.
  return takeDuePeers(database, dids, { nowMs: clock.nowMs(), leaseMs: settings.visitTimeoutMs * 4 })
}

async function waitAtMost({ clock }: MeshDeps, work: readonly Promise<void>[], ms: number): Promise<void> {
  const done = new AbortController()
  const limit = clock.sleep(ms, done.signal).catch(() => {})
  await Promise.race([Promise.all(work), limit])
  done.abort()
}

/** What is to be done now; peers that are to be forgotten, and seeds that are not known, are seen to before. */
async function findWork({ database, clock, settings, seeds, dnsSeeds, self }: MeshDeps, room: number): Promise<Due> {
  const nowMs = clock.nowMs()
  const times = {
    ...{ nowMs, pricesBeforeMs: nowMs - settings.priceCheckEveryMs, expireBeforeMs: nowMs - settings.expireAfterMs },
    limit: room,
  }
  const wanted = [...seeds, ...dnsSeeds.current()].map(({ origin }) => origin).filter((one) => one !== self.origin)
  const due = await findDue(database, wanted, times)
  if (due.old) await deletePeers(database, times.expireBeforeMs)
  const missing = due.seeds.flatMap((address) => parseNodeAddress(address) ?? []).filter(({ did }) => did !== self.did)
  if (missing.length === 0) return due
  await recordCandidates(
    database,
    missing.map((seed) => ({ ...seed, sequence: 0 })),
    { foundBy: 'seed', nowMs, retryMs: 0, candidatesMax: 0, perNamerMax: 0 },
  )
  return findDue(database, [], times)
}

async function pollPrices(deps: MeshDeps, signal: AbortSignal): Promise<void> {
  const peer = await takePriceCheck(deps.database, deps.clock.nowMs(), deps.settings.priceCheckEveryMs)
  if (peer !== undefined) await checkPrices(deps, peer, signal)
}

/** An operator who named peers wants to be found through them; a node that sees none of them for long is found by nobody. */
function createLonelyAlarm({ clock, metrics, log, settings }: MeshDeps): (peers: number) => void {
  let sinceMs: number | undefined
  let warned = false
  return (peers) => {
    if (peers > 0) {
      sinceMs = undefined
      warned = false
      return
    }
    sinceMs ??= clock.monotonicMs()
    if (warned || clock.monotonicMs() - sinceMs < lonelyVisits * settings.visitEveryMs) return
    warned = true
    metrics.count('alarms', { alarm: 'mesh_alone' })
    log.error({}, 'no peer of the mesh has answered for a while; nobody finds this node through others')
  }
}
