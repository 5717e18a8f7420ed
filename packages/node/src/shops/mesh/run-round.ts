import { setMaxListeners } from 'node:events'
import { parseNodeAddress } from '@assay/protocol/mesh/node-address'
import type { Clock } from '@assay/till/kernel/clock'
import { announceSelf } from './announce-self.ts'
import { deletePeers, recordCandidates } from './candidate-store.ts'
import { checkPrices } from './check-prices.ts'
import { sample } from './choose-peers.ts'
import type { MeshDeps } from './deps.ts'
import { type Due, findDue, type Room } from './due-store.ts'
import { readListings } from './listings.ts'
import type { MeshViews, SeenPeer } from './mesh-view.ts'
import type { OwnStatement } from './own-statement.ts'
import { createSilence, type Silence } from './silence.ts'
import { type PeerRow, takePriceCheck } from './store.ts'
import { deleteOldEvidence } from './take-evidence.ts'
import { visitPauseMs } from './visit-pause.ts'
import { visitPeer } from './visit-peer.ts'

export type Rounds = {
  silence: Silence
  /** One turn of keeping up: renew the own statement, look after seeds, visit who is due, check somebody's prices. */
  run(): Promise<void>
  /** Resolves when no visit is under way. */
  idle(): Promise<void>
  /** Ends what is under way and waits for it. */
  stop(): Promise<void>
}

const visitsAtOnceMax = 16
/** Visits to names that did not answer yet, beyond what there is in a minute; one that answers takes none of it. */
const namesAtFirst = 64
/** Peers whose prices are checked one after the other; with more of them, evenly over the time between two checks of each. */
const pricesAtFirst = 8
const pushedTo = 8
/** Pauses between visits without any peer after which an alarm is raised: five minutes by default. */
const lonelyVisits = 20

export function createRounds(deps: MeshDeps, views: MeshViews): Rounds {
  const { clock, settings } = deps
  const stopping = new AbortController()
  // Each visit listens to it in several places; that is no leak.
  setMaxListeners(visitsAtOnceMax * 16, stopping.signal)
  const { start, visitOther, wait, room } = trackWork(deps, stopping.signal)
  const alone = createLonelyAlarm(deps)
  let listingsDueMs = 0
  let evidenceDueMs = 0
  let pushed = ''
  let live = 0
  const priceChecks = createAllowance(clock, () => (live * 60_000) / settings.priceCheckEveryMs, pricesAtFirst)
  const visit = async (peer: PeerRow): Promise<boolean> => {
    const view = await views.current(settings.visitEveryMs)
    const pauseMs = visitPauseMs(settings, live)
    const { signal } = stopping
    return visitPeer(deps, peer, { own: view.own, view, pauseMs, silence, again, changed: views.outdated, signal })
  }
  const again = (peer: PeerRow, afterMs: number) =>
    start(
      'a second visit to a peer',
      clock.sleep(afterMs, stopping.signal).then(() => visit(peer)),
    )
  const silence = createSilence(deps, views, { visit, start, signal: stopping.signal })
  /** What this node offers has changed: a few peers hear of it now, and others from them. */
  const push = (peers: readonly SeenPeer[], own: OwnStatement) => {
    const offers = JSON.stringify(own.statement.offers)
    const first = pushed === ''
    if (offers === pushed) return
    pushed = offers
    if (first) return
    for (const peer of sample(peers, pushedTo, deps.rng))
      start('a push to a peer', announceSelf(deps, peer, own, { signal: stopping.signal }))
  }
  return {
    silence,
    run: async () => {
      if (stopping.signal.aborted) return
      if (deps.dnsSeeds.due()) start('a lookup of nodes in DNS', deps.dnsSeeds.refresh(stopping.signal))
      if (settings.listings.length > 0 && clock.monotonicMs() >= listingsDueMs) {
        listingsDueMs = clock.monotonicMs() + settings.listingsEveryMs
        start('a check of listings', readListings(deps, stopping.signal))
      }
      const due = await findWork(deps, room())
      // A node that is alone has nothing to keep up with.
      if (!due.anybody) {
        if (views.latest()?.peers.length) await views.refresh()
        deps.metrics.gauge('mesh_peers', 0)
        return
      }
      const before = await views.current(settings.visitEveryMs)
      live = due.live
      for (const peer of due.taken) {
        if (peer.state === 'alive' || peer.state === 'suspect') start('a visit to a peer', visit(peer))
        else visitOther(visit(peer))
      }
      push(before.peers, before.own)
      if (due.prices && priceChecks.left() > 0) {
        priceChecks.add(-1)
        start('a check of prices', pollPrices(deps, stopping.signal).then(views.outdated))
      }
      await wait(settings.visitEveryMs / 8)
      if (clock.monotonicMs() >= evidenceDueMs) {
        evidenceDueMs = clock.monotonicMs() + settings.evidenceEveryMs
        await deleteOldEvidence(deps)
      }
      const view = await views.upToDate(settings.visitEveryMs)
      deps.metrics.gauge('mesh_peers', view.peers.length)
      alone(view.peers.length)
    },
    idle: wait,
    stop: async () => {
      stopping.abort(new Error('the shop closes'))
      await wait()
    },
  }
}

/** What was begun. It outlives its round: one peer that stalls must not keep the others waiting. */
function trackWork({ clock, log, settings }: MeshDeps, stopping: AbortSignal) {
  const inProgress = new Set<Promise<void>>()
  // Names that do not exist take all the time there is; they leave the room of peers that have a place alone.
  const toOthers = new Set<Promise<void>>()
  const names = createAllowance(clock, () => settings.visitsPerMinute / 2, namesAtFirst)
  const begin = (place: Set<Promise<void>>, what: string, work: Promise<unknown>): void => {
    const begun = work
      .then(() => {})
      .catch((error: unknown) => {
        if (!stopping.aborted) log.warn({ error: String(error) }, `${what} failed`)
      })
      .finally(() => place.delete(begun))
    place.add(begun)
  }
  const allBegun = () => Promise.all([...inProgress, ...toOthers])
  return {
    start: (what: string, work: Promise<unknown>): void => begin(inProgress, what, work),
    visitOther: (visit: Promise<boolean>): void => {
      names.add(-1)
      begin(
        toOthers,
        'a visit to a node that has no place',
        visit.then((answered) => answered && names.add(1)),
      )
    },
    room: (): Room => ({
      shown: Math.max(0, visitsAtOnceMax - inProgress.size),
      others: Math.min(visitsAtOnceMax - toOthers.size, names.left()),
    }),
    /** Until all has ended, or for so long. */
    wait: async (msMax?: number): Promise<void> => {
      if (msMax === undefined) {
        // A visit that ends may begin something else.
        while (inProgress.size + toOthers.size > 0) await allBegun()
        return
      }
      const done = new AbortController()
      await Promise.race([allBegun(), clock.sleep(msMax, done.signal).catch(() => {})])
      done.abort()
    },
  }
}

/** `most` at first, and then so many in a minute. */
function createAllowance(clock: Clock, perMinute: () => number, most: number) {
  let left = most
  let atMs = clock.monotonicMs()
  return {
    left: (): number => {
      const nowMs = clock.monotonicMs()
      left = Math.min(most, left + ((nowMs - atMs) * perMinute()) / 60_000)
      atMs = nowMs
      return Math.max(0, Math.floor(left))
    },
    add: (count: number): void => {
      left = Math.min(most, left + count)
    },
  }
}

/** What is to be done now; old peers are deleted, and seeds that are not known are recorded, before. */
async function findWork({ database, clock, settings, seeds, dnsSeeds, self }: MeshDeps, room: Room): Promise<Due> {
  const nowMs = clock.nowMs()
  const times = {
    ...{ nowMs, pricesBeforeMs: nowMs - settings.priceCheckEveryMs, expireBeforeMs: nowMs - settings.expireAfterMs },
    // As long as a visit with announcement may take; then another process may try.
    ...{ room, leaseMs: settings.visitTimeoutMs * 4 },
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
  const added = await findDue(database, [], times)
  return { ...added, taken: [...due.taken, ...added.taken] }
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
