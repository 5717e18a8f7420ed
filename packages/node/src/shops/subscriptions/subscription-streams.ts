import type { Address } from '@assay/protocol/address'
import { Problem } from '@assay/till/kernel/problem'
import { createSlots } from '../../http/index.ts'
import type { ShopContext } from '../shop.ts'
import { productOf, type SubscriptionPolicy, tiersCovering } from './policy.ts'
import { subscriptionProblems } from './problems.ts'
import { findSubscriptions, type Subscription } from './store.ts'
import { createStreamPlaces } from './stream-places.ts'

/** How soon a stream ends whose subscription was revoked or whose token was changed. */
export const recheckMs = 5_000

/** All streams of one process, of all subscribers. */
const allMax = 20_000

/** An open stream, as far as its subscription can end it. */
export type WatchedStream = {
  /** Digest of the token that opened it; null if the wallet itself did. */
  tokenSha256: string | null
  /** No longer paid for from this time on; it may have passed. */
  endAt(ms: number): void
  end(reason: 'token_ended' | 'connections'): void
}

/** A place for one stream, or the lack of one. */
export type StreamSeat = {
  /** From here on it is counted. One that came too late for a place is ended: the place has been promised already. */
  watch(stream: WatchedStream): void
  /** When it is over; calling it twice is harmless. */
  close(): void
}

/** Open streams of subscribers to one route: so many per subscription in all processes, checked again while they last. */
export type SubscriptionStreams = {
  /** Throws unless the wallet has a subscription that covers the stream: a pass or credit for single calls is not one. */
  requireSubscribed(wallet: Address): Promise<void>
  /** Throws when all places of the wallet are taken; takes none. */
  requireFree(wallet: Address): Promise<void>
  take(wallet: Address): Promise<StreamSeat>
  /** Ends what is no longer paid for, and what a token opened that is no longer one. */
  recheck(): Promise<void>
  stop(): Promise<void>
}

export type SubscriptionStreamsOptions = {
  routeId: string
  /** Per subscription. */
  connections: number
  policy: SubscriptionPolicy
}

type Deps = Pick<ShopContext, 'database' | 'clock' | 'log' | 'rng'>

export function openSubscriptionStreams(deps: Deps, options: SubscriptionStreamsOptions): SubscriptionStreams {
  const { database, clock, log, rng } = deps
  const { routeId, connections } = options
  const product = productOf(routeId)
  const covering = tiersCovering(options.policy, routeId)
  const process = Buffer.from(rng.bytes(12)).toString('hex')
  const slots = createSlots({ perCallerMax: connections, allMax })
  const places = createStreamPlaces({ database, clock, log, process, product, connections })
  const watched = createWatched()
  const stopping = new AbortController()

  const untilMsOf = (found: Subscription | undefined) =>
    found && found.pausedAtMs === null && covering.includes(found.tier) ? found.untilMs : 0
  const recheck = async () => {
    if (watched.wallets().length === 0) return
    const found = await findSubscriptions(database, watched.wallets(), product)
    const states = new Map(found.map((one) => [one.wallet, one]))
    for (const { wallet, stream } of watched.all()) {
      const state = states.get(wallet)
      stream.endAt(untilMsOf(state))
      if (stream.tokenSha256 !== null && state?.tokenHash?.toString('hex') !== stream.tokenSha256)
        stream.end('token_ended')
    }
  }
  const rechecking = (async () => {
    while (!stopping.signal.aborted) {
      await clock.sleep(recheckMs, stopping.signal).catch(() => {})
      if (stopping.signal.aborted) return
      await Promise.all([recheck(), places.renew()]).catch((error: unknown) =>
        log.warn({ error: String(error) }, 'streams not checked'),
      )
    }
  })()

  return {
    requireSubscribed: async (wallet) => {
      const [found] = await findSubscriptions(database, [wallet], product)
      if (untilMsOf(found) <= clock.nowMs()) throw new Problem(subscriptionProblems.subscription_required)
    },
    requireFree: async (wallet) => {
      slots.take(wallet)()
      await places.requireFree(wallet)
    },
    take: async (wallet) => {
      const releasePlace = await places.take(wallet)
      const release = takeSlot(() => slots.take(wallet))
      let unwatch = () => {}
      return {
        watch: (stream) => {
          // Two openings may have passed the check together.
          if (release === undefined || releasePlace === undefined) stream.end('connections')
          unwatch = watched.add(wallet, stream)
        },
        close: () => {
          unwatch()
          releasePlace?.()
          release?.()
        },
      }
    },
    recheck,
    stop: async () => {
      stopping.abort(new Error('the shop closes'))
      await rechecking
      await places.stop()
    },
  }
}

function takeSlot(take: () => () => void): (() => void) | undefined {
  try {
    return take()
  } catch (error) {
    if (error instanceof Problem) return undefined
    throw error
  }
}

function createWatched() {
  const open = new Map<Address, Set<WatchedStream>>()
  return {
    wallets: () => [...open.keys()],
    all: () => [...open].flatMap(([wallet, streams]) => [...streams].map((stream) => ({ wallet, stream }))),
    add: (wallet: Address, stream: WatchedStream): (() => void) => {
      const mine = open.get(wallet) ?? new Set()
      open.set(wallet, mine.add(stream))
      return () => {
        mine.delete(stream)
        if (mine.size === 0 && open.get(wallet) === mine) open.delete(wallet)
      }
    },
  }
}
