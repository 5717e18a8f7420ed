import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import type { Micro } from '@assay/protocol/money'
import type { Clock } from '../../kernel/clock.ts'
import type { Log } from '../../kernel/log.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import type { Database } from '../../store/database.ts'
import type { Network } from '../network.ts'
import type { Rpc, RpcEndpoint } from '../rpc.ts'
import type { FeeSource, Fees } from './fees.ts'
import type { TransactionReceipt } from './receipt.ts'
import type { WalletKey } from './wallet-key.ts'
import type { WalletLease } from './wallet-lease.ts'

export type WalletLimits = {
  leaseMs: number
  /** How often receipts are looked for. */
  pollMs: number
  /** After this long without a block a transaction is sent again. */
  rebroadcastMs: number
  /** After this long at the head of the line it is replaced by one that offers more. */
  stuckMs: number
  /** A wallet with nothing to do for this long is given free for other processes. */
  idleMs: number
  /** How long a call waits for a wallet that another process has. */
  waitForWalletMs: number
  inFlightPerWallet: number
  /** How often the offer for one nonce is raised while the market does not ask for more than it offers. */
  replacementsMax: number
  /** How often transactions that a reorganization undid are searched for: they are rare, and every search costs calls. */
  reorgCheckMs: number
}

export type LeasedWalletDeps = {
  network: Network
  rpc: Rpc
  /** The endpoints behind `rpc`: a transaction goes to all of them. */
  endpoints: readonly RpcEndpoint[]
  database: Database
  fees: FeeSource
  clock: Clock
  log: Log
  metrics: Metrics
  limits: WalletLimits
}

/** One call to be carried by one transaction of one of our wallets. */
export type OutgoingCall = {
  /** settle, payout, … */
  purpose: string
  references: readonly string[]
  to: Address
  data: Hex
  gasLimit: bigint
  /** The only wallet that may send it. Without it, any of ours. */
  from?: Address
  /** What it may cost at most, in micro-USD: relative to what is sent. Without it the limits of the chain decide alone. */
  costMicroMax?: Micro
  /** Unix seconds after which it can only fail. */
  usefulUntil?: number
  /** Once false, the call is cancelled where no node has taken it yet. */
  stillWanted(): boolean
}

export type NotSentReason = 'lease_lost' | 'unfunded' | 'fees_too_high' | 'refused' | 'unavailable' | 'no_wallet'

export type SendResult =
  /** Nothing left this process, or every node refused it: it is nowhere. */
  | { status: 'not_sent'; reason: NotSentReason; message?: string }
  | { status: 'sent'; nonce: bigint; transaction: Hex; outcome: Promise<TransactionOutcome> }

export type TransactionOutcome =
  | { status: 'mined'; receipt: TransactionReceipt; costWei: bigint }
  /** Its nonce went to something else: the call can never happen any more. */
  | { status: 'replaced'; detail: string }
  /** This process no longer watches it. */
  | { status: 'stopped' }

/** A nonce that is signed for and not yet known to be used. */
export type InFlight = {
  nonce: bigint
  call: OutgoingCall
  /** All versions, the newest last. */
  hashes: Hex[]
  /** Those of them that are empty transfers. */
  fillers: Set<Hex>
  raw: Hex
  fees: Fees
  /** A node has taken some version of it. */
  accepted: boolean
  /** When its newest version was first sent, and when it was last sent at all. */
  sentAtMs: number
  lastSentAtMs: number
  /** First seen that its nonce is used although no receipt is known. */
  vanishedAtMs: number | undefined
  /** It was reported that no higher offer is made for it. */
  reportedStuck: boolean
  end(outcome: TransactionOutcome): void
}

/** All that is known about one leased wallet. */
export type LeasedWalletState = {
  readonly deps: LeasedWalletDeps
  readonly key: WalletKey
  readonly lease: WalletLease
  nextNonce: bigint
  readonly inFlight: Map<bigint, InFlight>
  /** Another process wants the wallet: nothing new is sent. */
  yielding: boolean
  /** Notes for the database that no caller waits for. */
  readonly notes: Set<Promise<void>>
  /** Signing, storing and sending happen one at a time, so that nonces leave in order. */
  exclusive<T>(work: () => Promise<T>): Promise<T>
}

export function createLeasedWalletState(deps: LeasedWalletDeps, key: WalletKey, lease: WalletLease): LeasedWalletState {
  let last: Promise<unknown> = Promise.resolve()
  return {
    deps,
    key,
    lease,
    nextNonce: 0n,
    inFlight: new Map(),
    yielding: false,
    notes: new Set(),
    exclusive: (work) => {
      const mine = last.then(work)
      last = mine.catch(() => {})
      return mine
    },
  }
}

/** Writes a record without making the caller wait. A lost record costs nothing but a read of the chain after a restart. */
export function note(state: LeasedWalletState, write: Promise<void>): void {
  const noted = write
    .catch((error: unknown) => {
      state.deps.log.warn(
        { wallet: state.key.address, error: String(error) },
        'the state of a transaction was not noted',
      )
    })
    .finally(() => state.notes.delete(noted))
  state.notes.add(noted)
}

export const keyOf = (state: LeasedWalletState, nonce: bigint) => ({
  network: state.deps.network.caip2,
  wallet: state.key.address,
  nonce,
})
