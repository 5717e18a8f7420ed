import type { Address } from '@assay/protocol/address'
import type { Micro } from '@assay/protocol/money'
import type { ChainPort, RpcEndpoint } from '../chain/index.ts'
import type { EntitledScheme } from '../contract/entitled-scheme.ts'
import type { EntitlementPort } from '../contract/entitlement.ts'
import type { Facilitator } from '../contract/facilitator.ts'
import type { ReversalHook, SaleHook } from '../contract/paid-call.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Ids } from '../kernel/ids.ts'
import type { Log } from '../kernel/log.ts'
import type { Metrics } from '../kernel/metrics.ts'
import type { Rng } from '../kernel/random.ts'
import type { Account, TransferRow } from '../ledger/index.ts'
import type { PayoutDeps } from '../payouts/index.ts'
import type { Database } from '../store/database.ts'

/** Undone in the reverse order when the till closes: the database is opened first and so closed last. */
export type Stops = (() => Promise<void>)[]

export type Ports = {
  clock: Clock
  rng: Rng
  ids: Ids
  log: Log
  metrics: Metrics
  progress(text: string): void
}

/** Each gets the real thing and gives what the till shall use instead. */
export type Interceptors = {
  database?(database: Database): Database
  rpc?(endpoint: RpcEndpoint): RpcEndpoint
  chain?(chain: ChainPort): ChainPort
  facilitator?(facilitator: Facilitator): Facilitator
  /** One round of a job, with its lease. */
  job?(name: string, round: () => Promise<void>): () => Promise<void>
}

/**
 * Runs in one process at a time, the one that holds its lease. The signal is aborted when another may have taken it over:
 * long work starts nothing new then.
 */
export type TillJob = {
  name: string
  intervalMs: number
  /** `handOver` when it met what another process may be able to do. */
  work(signal?: AbortSignal): Promise<unknown>
  /**
   * An SQL expression, the time being `$1`: there is work while it is true, and once after its value has changed. Asked
   * for all jobs together; a job without work runs every `idleMs` only. Jobs without it run every interval.
   */
  due?: string
  idleMs?: number
  /** A message on this channel of the database runs it at once. */
  channel?: string
}

/** A named thing that must work. Rejecting or answering false means that it does not. */
export type ReadinessCheck = {
  name: string
  check(signal: AbortSignal): Promise<boolean>
  /** Without it only a part stops: it is shown, and the rest stays ready. */
  partial?: boolean
}

/** What takes part in sales beside the till itself: entitlements, hooks, shares owed to others, and its own work. */
export type SalePart = {
  entitlements?: readonly EntitlementPort[]
  /** Ways to pay by what was paid in before. */
  entitledSchemes?: readonly EntitledScheme[]
  saleHooks?: readonly SaleHook[]
  reversalHooks?: readonly ReversalHook[]
  jobs?: readonly TillJob[]
  /** Brings the books of this part up to the chain, so that comparing them finds none of its transfers. */
  beforeReconcile?(): Promise<void>
  /** Whether this part has posted a transfer out of custody, or will: a payment into its own contract. */
  explainsOutbound?(transfer: TransferRow): Promise<boolean>
  /** The other side of a transfer in that this part expects, as from a contract that pays us out. */
  inboundAccount?(transfer: TransferRow): Promise<Account | undefined>
  /** Compares further books of this part with the chain, after those of our addresses. */
  afterReconcile?(payTo: (network: string) => readonly Address[]): Promise<void>
  /** Shares it owes to others that are paid out by themselves once they reach the minimum. */
  payoutPurposes?: PayoutDeps['purposes']
  /** The part of the operator's money in a custody wallet that this part has committed and that must not be withdrawn. */
  committedMicro?(network: string): Promise<Micro>
  /** Named things that must work before this part can sell. */
  readiness?: readonly ReadinessCheck[]
}
