import type { Address } from '@assay/protocol/address'
import {
  createLeasedWalletState,
  type LeasedWalletDeps,
  type OutgoingCall,
  type SendResult,
} from './leased-wallet-state.ts'
import { recoverWallet } from './recover-wallet.ts'
import { sendCall } from './send-call.ts'
import type { WalletKey } from './wallet-key.ts'
import { createLease, leaseWallet, releaseWallet, type WalletHolder, type WalletLease } from './wallet-lease.ts'
import { awaitReceipt, endAll, watchWallet } from './watch-wallet.ts'

/** One wallet while this process holds it. */
export type LeasedWallet = {
  readonly wallet: Address
  /** Transactions on their way, and calls about to become one. */
  load(): number
  /** May take another call. */
  isOpen(): boolean
  /** Another process asked for the wallet. */
  isWanted(): boolean
  send(call: OutgoingCall): Promise<SendResult>
  /** Releases the wallet once nothing is in flight; at once with `force`. */
  close(force: boolean): Promise<void>
}

export type LeasedWalletEvents = {
  /** Nothing is on its way any more. */
  drained(leased: LeasedWallet): void
}

/** Leases a wallet and takes over what its last holder left. Undefined while another living process has it. */
export async function openLeasedWallet(
  deps: LeasedWalletDeps,
  key: WalletKey,
  process: WalletHolder,
  events: LeasedWalletEvents,
): Promise<LeasedWallet | undefined> {
  // With the session it has now: once that is lost others may have the wallet, even if the process has another session by then.
  const holder = { id: process.id, lost: process.lost }
  const { database, network, clock, limits } = deps
  const place = { network: network.caip2, wallet: key.address, leaseMs: limits.leaseMs }
  const beganAtMs = clock.monotonicMs()
  const token = await leaseWallet(database, place, holder)
  if (token === undefined) return undefined
  const lease = createLease({ ...place, token, beganAtMs }, holder, clock)
  try {
    return await startLeasedWallet(deps, key, lease, events)
  } catch (error) {
    await releaseWallet(database, lease).catch(() => {})
    throw error
  }
}

async function startLeasedWallet(
  deps: LeasedWalletDeps,
  key: WalletKey,
  lease: WalletLease,
  events: LeasedWalletEvents,
): Promise<LeasedWallet> {
  const state = createLeasedWalletState(deps, key, lease)
  const stop = new AbortController()
  let watching: Promise<void> | undefined
  let sending = 0
  let closed: Promise<void> | undefined

  const watch = () => {
    if (state.inFlight.size > 0)
      watching ??= watchWallet(state, stop.signal).finally(() => {
        watching = undefined
        // Something may have been sent between the last read and here.
        if (state.inFlight.size > 0) watch()
        else if (sending === 0) events.drained(leased)
      })
    else if (sending === 0 && !watching) events.drained(leased)
  }

  const leased: LeasedWallet = {
    wallet: key.address,
    load: () => state.inFlight.size + sending,
    isWanted: () => state.yielding,
    isOpen: () => closed === undefined && !state.yielding && lease.holds(),
    async send(call) {
      if (!leased.isOpen()) return { status: 'not_sent', reason: 'lease_lost' }
      sending += 1
      try {
        const result = await sendCall(state, call)
        // Chains that answer once the block is made have the receipt already: no need to wait for the next poll.
        if (result.status === 'sent') await awaitReceipt(state, result.nonce).catch(() => {})
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
        await releaseWallet(deps.database, lease)
      })()
      return closed
    },
  }
  // Warmed while the nonce is read, so that the first call after a pause waits for neither twice.
  deps.fees.current().catch(() => {})
  await recoverWallet(state)
  watch()
  return leased
}
