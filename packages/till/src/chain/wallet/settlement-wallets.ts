import type { Address } from '@assay/protocol/address'
import { createFeeSource } from './fees.ts'
import { type Lane, openLane } from './lane.ts'
import { type LaneHolder, wantLane } from './lane-lease.ts'
import type { LaneDeps, OutgoingCall, SendResult, WalletLimits } from './lane-state.ts'
import { walletsTakenBack } from './taken-back.ts'
import { walletsWithUnfinished } from './transaction-store.ts'
import type { WalletKey } from './wallet-key.ts'

export type SettlementWalletsOptions = Omit<LaneDeps, 'fees' | 'limits'> & {
  keys: readonly WalletKey[]
  holder: LaneHolder
  limits?: Partial<WalletLimits>
}

export type LaneRecovery = { wallet: Address; status: 'clean' | 'taken_over' | 'held_elsewhere' | 'unavailable' }

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
  recoverLanes(): Promise<LaneRecovery[]>
  /** Wei per wallet, for readiness and alarms. */
  balances(): Promise<{ wallet: Address; wei: bigint }[]>
  /** Stops watching and gives the wallets free; what is on its way stays stored for the next holder. */
  stop(): Promise<void>
}

const wantMs = 2_000
/** After letting a wallet go for others they need a moment to take it. */
const courtesyMs = 150

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
    takenBackMs: 60_000,
  }
}

/** The wallets that this process has at the moment, each given up once nobody needs it. */
function createLanePool(deps: LaneDeps, holder: LaneHolder) {
  const { clock, limits } = deps
  const lanes = new Map<Address, Lane>()
  const opening = new Map<Address, Promise<Lane | undefined>>()
  const notBeforeMs = new Map<Address, number>()
  const usedAtMs = new Map<Address, number>()
  const stop = new AbortController()
  const closing = new Set<Promise<void>>()

  const retire = (lane: Lane, force = false) => {
    if (lanes.get(lane.wallet) === lane) lanes.delete(lane.wallet)
    notBeforeMs.set(lane.wallet, lane.isWanted() ? clock.monotonicMs() + courtesyMs : 0)
    const closed = lane
      .close(force)
      .catch(() => {})
      .finally(() => closing.delete(closed))
    closing.add(closed)
  }

  const drained = (lane: Lane) => {
    usedAtMs.set(lane.wallet, clock.monotonicMs())
    if (lanes.get(lane.wallet) === lane && !lane.isOpen()) retire(lane)
  }

  const retireWhenIdle = async (lane: Lane): Promise<void> => {
    while (lanes.get(lane.wallet) === lane) {
      await clock.sleep(limits.idleMs, stop.signal)
      const idleMs = clock.monotonicMs() - (usedAtMs.get(lane.wallet) ?? 0)
      if (lane.load() === 0 && idleMs >= limits.idleMs && lanes.get(lane.wallet) === lane) retire(lane)
    }
  }

  const open = (key: WalletKey): Promise<Lane | undefined> => {
    const known = opening.get(key.address)
    if (known) return known
    const attempt = openLane(deps, key, holder, { drained })
      .then((lane) => {
        if (!lane) return undefined
        lanes.set(key.address, lane)
        usedAtMs.set(key.address, clock.monotonicMs())
        retireWhenIdle(lane).catch(() => {})
        return lane
      })
      .finally(() => opening.delete(key.address))
    opening.set(key.address, attempt)
    return attempt
  }

  return {
    lanes,
    /** Until then a wallet is left to others. */
    notBeforeMs,
    open,
    retire,
    isStopped: () => stop.signal.aborted,
    stop: async () => {
      stop.abort()
      await Promise.allSettled(opening.values())
      for (const lane of [...lanes.values()]) retire(lane, true)
      await Promise.all(closing)
    },
  }
}

type LanePool = ReturnType<typeof createLanePool>

/** The wallet that carries a call: an idle one, else one that another process gives up, else one with room. */
function createLanePicker(deps: LaneDeps, keys: readonly WalletKey[], holder: LaneHolder, pool: LanePool) {
  const { clock, database, network, limits } = deps
  const { lanes, notBeforeMs, open, retire } = pool
  let turn = 0

  /** Tries the wallets we do not have, a different one first each time. */
  const openAnother = async (from?: Address): Promise<Lane | undefined> => {
    turn += 1
    for (let step = 0; step < keys.length; step += 1) {
      const key = keys[(turn + step) % keys.length] as WalletKey
      if (from !== undefined && key.address !== from) continue
      if (lanes.has(key.address) || clock.monotonicMs() < (notBeforeMs.get(key.address) ?? 0)) continue
      notBeforeMs.set(key.address, clock.monotonicMs() + courtesyMs)
      const lane = await open(key)
      if (lane) return lane
      await wantLane(database, network.caip2, key.address, wantMs)
    }
    return undefined
  }

  const pickLane = async (call: OutgoingCall): Promise<Lane | undefined> => {
    const deadlineMs = clock.monotonicMs() + limits.waitForWalletMs
    while (!pool.isStopped() && !holder.lost.aborted && call.stillWanted() && clock.monotonicMs() < deadlineMs) {
      for (const lane of lanes.values()) if (!lane.isOpen() && lane.load() === 0) retire(lane)
      const held = [...lanes.values()]
        .filter((lane) => lane.isOpen() && (call.from === undefined || lane.wallet === call.from))
        .sort((a, b) => a.load() - b.load())[0]
      if (held?.load() === 0) return held
      const another = lanes.size < keys.length ? await openAnother(call.from) : undefined
      if (another?.isOpen()) return another
      if (held?.isOpen() && held.load() < limits.inFlightPerWallet) return held
      await clock.sleep(20)
    }
    return undefined
  }

  return pickLane
}

export function createSettlementWallets(options: SettlementWalletsOptions): SettlementWallets {
  const { network, clock, database, keys, holder, rpc } = options
  const limits = { ...defaultWalletLimits(network.blockSecondsTypical), ...options.limits }
  const deps: LaneDeps = { ...options, limits, fees: createFeeSource(network, rpc, clock) }
  const pool = createLanePool(deps, holder)
  const pickLane = createLanePicker(deps, keys, holder, pool)
  const addresses = keys.map((key) => key.address)
  let takenBackDueMs = Number.NEGATIVE_INFINITY

  const lookForTakenBack = async (): Promise<Set<Address>> => {
    if (clock.monotonicMs() < takenBackDueMs) return new Set()
    takenBackDueMs = clock.monotonicMs() + limits.takenBackMs
    return walletsTakenBack(deps, addresses)
  }

  return {
    network: network.caip2,
    addresses,
    capacity: keys.length * limits.inFlightPerWallet,
    async send(call) {
      try {
        for (;;) {
          const lane = await pickLane(call)
          if (!lane) return { status: 'not_sent', reason: 'no_wallet', message: 'no settlement wallet is free' }
          const result = await lane.send(call)
          // Nothing left the process, so another wallet, or the same one later, may carry it.
          if (result.status !== 'not_sent' || result.reason !== 'lease_lost') return result
          if (!lane.isOpen() && lane.load() === 0) pool.retire(lane)
        }
      } catch (error) {
        const message = error instanceof Error ? error.message.slice(0, 200) : 'the wallet could not be opened'
        return { status: 'not_sent', reason: 'unavailable', message }
      }
    },
    async recoverLanes() {
      const unfinished = await walletsWithUnfinished(database, network.caip2)
      // What waits is taken over even when the chain cannot be asked for what it took back.
      const takenBack = await lookForTakenBack().catch(() => new Set<Address>())
      const taken: LaneRecovery[] = []
      for (const key of keys) {
        const lane =
          unfinished.has(key.address) || takenBack.has(key.address)
            ? (pool.lanes.get(key.address) ?? (await pool.open(key).catch(() => 'unavailable' as const)))
            : 'clean'
        const status = typeof lane === 'string' ? lane : lane ? 'taken_over' : 'held_elsewhere'
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
