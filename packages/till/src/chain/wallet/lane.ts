import type { Address } from '@assay/protocol/address'
import { createLease, type LaneHolder, type LaneLease, releaseLane, takeLane } from './lane-lease.ts'
import { createLaneState, type LaneDeps, type OutgoingCall, type SendResult } from './lane-state.ts'
import { recoverLane } from './recover-lane.ts'
import { sendCall } from './send-call.ts'
import type { WalletKey } from './wallet-key.ts'
import { endAll, lookForReceipt, watchLane } from './watch-lane.ts'

/** One wallet while this process holds it. */
export type Lane = {
  readonly wallet: Address
  /** Transactions on their way, and calls about to become one. */
  load(): number
  /** May take another call. */
  isOpen(): boolean
  /** Another process asked for the wallet. */
  isWanted(): boolean
  send(call: OutgoingCall): Promise<SendResult>
  /** Gives the wallet free once nothing is on its way; at once where `force` says so. */
  close(force: boolean): Promise<void>
}

export type LaneEvents = {
  /** Nothing is on its way any more. */
  drained(lane: Lane): void
}

/** Leases a wallet and takes over what its last holder left. Undefined while another living process has it. */
export async function openLane(
  deps: LaneDeps,
  key: WalletKey,
  process: LaneHolder,
  events: LaneEvents,
): Promise<Lane | undefined> {
  // With the session it has now: once that is lost others may have the lane, even if the process has another session by then.
  const holder = { id: process.id, lost: process.lost }
  const { database, network, clock, limits } = deps
  const place = { network: network.caip2, wallet: key.address, leaseMs: limits.leaseMs }
  const beganAtMs = clock.monotonicMs()
  const token = await takeLane(database, place, holder)
  if (token === undefined) return undefined
  const lease = createLease({ ...place, token, beganAtMs }, holder, clock)
  try {
    return await startLane(deps, key, lease, events)
  } catch (error) {
    await releaseLane(database, lease).catch(() => {})
    throw error
  }
}

async function startLane(deps: LaneDeps, key: WalletKey, lease: LaneLease, events: LaneEvents): Promise<Lane> {
  const state = createLaneState(deps, key, lease)
  const stop = new AbortController()
  let watching: Promise<void> | undefined
  let sending = 0
  let closed: Promise<void> | undefined

  const watch = () => {
    if (state.inFlight.size > 0)
      watching ??= watchLane(state, stop.signal).finally(() => {
        watching = undefined
        // Something may have been sent between the last look and here.
        if (state.inFlight.size > 0) watch()
        else if (sending === 0) events.drained(lane)
      })
    else if (sending === 0 && !watching) events.drained(lane)
  }

  const lane: Lane = {
    wallet: key.address,
    load: () => state.inFlight.size + sending,
    isWanted: () => state.yielding,
    isOpen: () => closed === undefined && !state.yielding && lease.holds(),
    async send(call) {
      if (!lane.isOpen()) return { status: 'not_sent', reason: 'lease_lost' }
      sending += 1
      try {
        const result = await sendCall(state, call)
        // Chains that answer once the block is made have the receipt already: no need to wait for the next look.
        if (result.status === 'sent') await lookForReceipt(state, result.nonce).catch(() => {})
        return result
      } finally {
        sending -= 1
        watch()
      }
    },
    close: (force) => {
      closed ??= (async () => {
        if (force) {
          stop.abort()
          endAll(state)
        }
        await watching
        await Promise.all(state.notes)
        await releaseLane(deps.database, lease)
      })()
      return closed
    },
  }
  // Warmed while the nonce is read, so that the first call after a pause waits for neither twice.
  deps.fees.current().catch(() => {})
  await recoverLane(state)
  watch()
  return lane
}
