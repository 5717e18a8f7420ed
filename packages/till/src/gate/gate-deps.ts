import type { Address } from '@assay/protocol/address'
import type { Micro } from '@assay/protocol/money'
import type { ChainPort } from '../chain/index.ts'
import type { Facilitator } from '../contract/facilitator.ts'
import type { JwsPort, Offers } from '../contract/offers.ts'
import type { PaidCall, SaleHook } from '../contract/paid-call.ts'
import type { PaymentDialect } from '../contract/payment-dialect.ts'
import type { Schemes } from '../contract/scheme.ts'
import type { Terms } from '../contract/terms.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Ids } from '../kernel/ids.ts'
import type { Log } from '../kernel/log.ts'
import type { Metrics } from '../kernel/metrics.ts'
import type { Challenges } from '../schemes/challenge.ts'
import type { Screening } from '../screening/index.ts'
import type { Database } from '../store/database.ts'
import type { Claims } from './claims.ts'
import type { DeferredTransitions } from './deferred-transitions.ts'
import type { Deliveries } from './deliveries.ts'
import type { EntitledSales } from './entitled-sale.ts'
import type { Entitlements } from './entitlements.ts'
import type { Exposure } from './exposure.ts'
import type { FinishSales } from './finish-sale.ts'
import type { Losses } from './losses.ts'
import type { Owner } from './owner.ts'

/** Everything the gate works with; built once in the composition root. */
export type GateDeps = {
  clock: Clock
  ids: Ids
  log: Log
  metrics: Metrics
  database: Database
  chains: ReadonlyMap<string, ChainPort>
  schemes: Schemes
  facilitator: Facilitator
  jws: JwsPort
  offers: Offers
  challenges: Challenges
  /** How payments may be written, in the order in which a request is searched for them. */
  dialects: readonly PaymentDialect[]
  claims: Claims
  deliveries: Deliveries
  finishSales: FinishSales
  exposure: Exposure
  losses: Losses
  deferred: DeferredTransitions
  owner: Owner
  entitlements: Entitlements
  /** A draw of credit is a sale like a payment. */
  saleHooks: readonly SaleHook[]
  limits: GateLimits
  /** Without it nobody is screened. */
  screening?: Screening
  /** True while the operator has paused sales, or nobody runs the jobs. */
  salesPaused(): boolean | Promise<boolean>
  termsOf(call: PaidCall): Terms[]
  /** Whether money sent to this address is ours to post. */
  isOurs(network: string, address: Address): boolean
  statusUrl(paymentId: string): string
  /** Where its payer gets a lost answer again by signing the request, if anywhere. */
  answerUrl?(paymentId: string): string
}

/** With the sales of calls that an entitlement pays for. */
export type SellingDeps = GateDeps & { entitledSales: EntitledSales }

export type GateLimits = {
  settleMs: number
  /** Up to here an answer is served at block inclusion; above, finality rules. */
  inclusionMicroMax: Micro
}

export const defaultGateLimits: GateLimits = { settleMs: 30_000, inclusionMicroMax: 1_000_000n }
