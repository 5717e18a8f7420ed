import type { Address } from '@assay/protocol/address'
import { createFeeSource } from './fees.ts'
import { type LeasedWallet, openLeasedWallet } from './leased-wallet.ts'
import type { LeasedWalletDeps, OutgoingCall, SendResult, WalletLimits } from './leased-wallet-state.ts'
import { walletsWithReorgedTransactions } from './reorged-transactions.ts'
import { walletsWithUnfinished } from './transaction-store.ts'
import type { WalletKey } from './wallet-key.ts'
import { requestWallet, type WalletHolder } from './wallet-lease.ts'

export type SettlementWalletsOptions = Omit<LeasedWalletDeps, 'fees' | 'limits'> & {
  keys: readonly WalletKey[]
  holder: WalletHolder
  limits?: Partial<WalletLimits>
}

export type WalletRecovery = { wallet: Address; status: 'clean' | 'taken_over' | 'held_by_another' | 'unavailable' }

/** The wallets we send with on one chain, shared by all processes: each is used by one of them at a time. */
export type SettlementWallets = {
  readonly network: string
  readonly addresses: readonly Address[]
  /** How many transactions may be on their way at once. */
  readonly capacity: number
  send(call: OutgoingCall): Promise<SendResult>
  /**
   * Takes over what a crash left, wallet by wallet; what another living process holds is its own business. For start and
   * for a job now and then: the database may need a moment to notice that a process has died.
   */
  recoverWallets(): Promise<WalletRecovery[]>
  /** Wei per wallet, for readiness and alarms. */
  balances(): Promise<{ wallet: Address; wei: bigint }[]>
  /** Stops watching and gives the wallets free; what is on its way stays stored for the next holder. */
  stop(): Promise<void>
}

const requestedForMs = 2_000
/** How long a released wallet is left to other processes before this one takes it again. */
const handoverMs = 150

export function defaultWalletLimits(blockSeconds: number): WalletLimits {
  return {
    leaseMs: 15_000,
    pollMs: Math.max(50, blockSeconds * 125),
    rebroadcastMs: blockSeconds * 2_000,
    stuckMs: blockSeconds * 5_000,
    idleMs: 1_000,
    waitForWalletMs: 15_000,
    inFlightPerWallet: 4,
    replacementsMax: 12,
    reorgCheckMs: 60_000,
  }
}

/** The wallets that this process has at the moment, each given up once nobody needs it. */
function createWalletPool(deps: LeasedWalletDeps, holder: WalletHolder) {
  const { clock, limits } = deps
  const leasedWallets = new Map<Address, LeasedWallet>()
  const opening = new Map<Address, Promise<LeasedWallet | undefined>>()
  const notBeforeMs = new Map<Address, number>()
  const usedAtMs = new Map<Address, number>()
  const stop = new AbortController()
  const closing = new Set<Promise<void>>()

  const retire = (leased: LeasedWallet, force = false) => {
    if (leasedWallets.get(leased.wallet) === leased) leasedWallets.delete(leased.wallet)
    notBeforeMs.set(leased.wallet, leased.isWanted() ? clock.monotonicMs() + handoverMs : 0)
    const closed = leased
      .close(force)
      .catch(() => {})
      .finally(() => closing.delete(closed))
    closing.add(closed)
  }

  const drained = (leased: LeasedWallet) => {
    usedAtMs.set(leased.wallet, clock.monotonicMs())
    if (leasedWallets.get(leased.wallet) === leased && !leased.isOpen()) retire(leased)
  }

  const retireWhenIdle = async (leased: LeasedWallet): Promise<void> => {
    while (leasedWallets.get(leased.wallet) === leased) {
      await clock.sleep(limits.idleMs, stop.signal)
      const idleMs = clock.monotonicMs() - (usedAtMs.get(leased.wallet) ?? 0)
      if (leased.load() === 0 && idleMs >= limits.idleMs && leasedWallets.get(leased.wallet) === leased) retire(leased)
    }
  }

  const open = (key: WalletKey): Promise<LeasedWallet | undefined> => {
    const known = opening.get(key.address)
    if (known) return known
    const attempt = openLeasedWallet(deps, key, holder, { drained })
      .then((leased) => {
        if (!leased) return undefined
        leasedWallets.set(key.address, leased)
        usedAtMs.set(key.address, clock.monotonicMs())
        retireWhenIdle(leased).catch(() => {})
        return leased
      })
      .finally(() => opening.delete(key.address))
    opening.set(key.address, attempt)
    return attempt
  }

  return {
    leasedWallets,
    /** Until then a wallet is left to others. */
    notBeforeMs,
    open,
    retire,
    isStopped: () => stop.signal.aborted,
    stop: async () => {
      stop.abort()
      await Promise.allSettled(opening.values())
      for (const leased of [...leasedWallets.values()]) retire(leased, true)
      await Promise.all(closing)
    },
  }
}

type WalletPool = ReturnType<typeof createWalletPool>

/** The wallet that carries a call: an idle one, else one that another process gives up, else one with room. */
function createWalletPicker(
  deps: LeasedWalletDeps,
  keys: readonly WalletKey[],
  holder: WalletHolder,
  pool: WalletPool,
) {
  const { clock, database, network, limits } = deps
  const { leasedWallets, notBeforeMs, open, retire } = pool
  let turn = 0

  /** Tries the wallets we do not have, a different one first each time. */
  const openAnother = async (from?: Address): Promise<LeasedWallet | undefined> => {
    turn += 1
    for (let step = 0; step < keys.length; step += 1) {
      const key = keys[(turn + step) % keys.length] as WalletKey
      if (from !== undefined && key.address !== from) continue
      if (leasedWallets.has(key.address) || clock.monotonicMs() < (notBeforeMs.get(key.address) ?? 0)) continue
      notBeforeMs.set(key.address, clock.monotonicMs() + handoverMs)
      const leased = await open(key)
      if (leased) return leased
      await requestWallet(database, network.caip2, key.address, requestedForMs)
    }
    return undefined
  }

  const pickWallet = async (call: OutgoingCall): Promise<LeasedWallet | undefined> => {
    const deadlineMs = clock.monotonicMs() + limits.waitForWalletMs
    while (!pool.isStopped() && !holder.lost.aborted && call.stillWanted() && clock.monotonicMs() < deadlineMs) {
      for (const leased of leasedWallets.values()) if (!leased.isOpen() && leased.load() === 0) retire(leased)
      const held = [...leasedWallets.values()]
        .filter((leased) => leased.isOpen() && (call.from === undefined || leased.wallet === call.from))
        .sort((a, b) => a.load() - b.load())[0]
      if (held?.load() === 0) return held
      const another = leasedWallets.size < keys.length ? await openAnother(call.from) : undefined
      if (another?.isOpen()) return another
      if (held?.isOpen() && held.load() < limits.inFlightPerWallet) return held
      await clock.sleep(20)
    }
    return undefined
  }

  return pickWallet
}

export function createSettlementWallets(options: SettlementWalletsOptions): SettlementWallets {
  const { network, clock, database, keys, holder, rpc } = options
  const limits = { ...defaultWalletLimits(network.blockSecondsTypical), ...options.limits }
  const deps: LeasedWalletDeps = { ...options, limits, fees: createFeeSource(network, rpc, clock) }
  const pool = createWalletPool(deps, holder)
  const pickWallet = createWalletPicker(deps, keys, holder, pool)
  const addresses = keys.map((key) => key.address)
  let reorgCheckDueMs = Number.NEGATIVE_INFINITY

  const findReorged = async (): Promise<Set<Address>> => {
    if (clock.monotonicMs() < reorgCheckDueMs) return new Set()
    reorgCheckDueMs = clock.monotonicMs() + limits.reorgCheckMs
    return walletsWithReorgedTransactions(deps, addresses)
  }

  return {
    network: network.caip2,
    addresses,
    capacity: keys.length * limits.inFlightPerWallet,
    async send(call) {
      try {
        for (;;) {
          const leased = await pickWallet(call)
          if (!leased) return { status: 'not_sent', reason: 'no_wallet', message: 'no settlement wallet is free' }
          const result = await leased.send(call)
          // Nothing left the process, so another wallet, or the same one later, may carry it.
          if (result.status !== 'not_sent' || result.reason !== 'lease_lost') return result
          if (!leased.isOpen() && leased.load() === 0) pool.retire(leased)
        }
      } catch (error) {
        const message = error instanceof Error ? error.message.slice(0, 200) : 'the wallet could not be opened'
        return { status: 'not_sent', reason: 'unavailable', message }
      }
    },
    async recoverWallets() {
      const unfinished = await walletsWithUnfinished(database, network.caip2)
      // What waits is taken over even when the chain cannot be asked for what it undid.
      const reorged = await findReorged().catch(() => new Set<Address>())
      const taken: WalletRecovery[] = []
      for (const key of keys) {
        const leased =
          unfinished.has(key.address) || reorged.has(key.address)
            ? (pool.leasedWallets.get(key.address) ?? (await pool.open(key).catch(() => 'unavailable' as const)))
            : 'clean'
        const status = typeof leased === 'string' ? leased : leased ? 'taken_over' : 'held_by_another'
        taken.push({ wallet: key.address, status })
      }
      return taken
    },
    async balances() {
      const answers = await rpc.batch(
        keys.map((key) => ({ method: 'eth_getBalance', params: [key.address, 'latest'] })),
      )
      return keys.map((key, index) => ({ wallet: key.address, wei: BigInt(answers[index] as string) }))
    },
    stop: pool.stop,
  }
}
