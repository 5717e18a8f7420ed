import type { Json } from '@assay/protocol/canonical-json'
import type { EntitlementPort, Hold, HoldPort } from './entitlement.ts'
import type { Offers } from './offers.ts'
import type { AnswerContent, GateOutcome, PaidCall, PaidRoute } from './paid-call.ts'
import type { PaymentEnvelope, Scheme } from './scheme.ts'
import type { Terms } from './terms.ts'

/**
 * A way to pay that moves nothing by itself: a voucher of a channel, a price that is drawn from credit. The call is served
 * through what the payer paid in before, as with any entitlement. The gate knows such a scheme by its name alone.
 */
export type EntitledScheme = Pick<Scheme, 'name' | 'supports' | 'requirements'> & {
  /** Whether a 402 of this route names it. */
  isOffered(route: PaidRoute, terms: Terms): boolean
  /**
   * Present where one entry stands for all networks: it comes last, and is this extension where the 402 has no room. Absent:
   * an entry for each of the terms, behind the first scheme.
   */
  readonly extension?: Json
  /** Throws a Problem, or ChainUnreadable, where nothing is sold. */
  pass(call: PaidCall, envelope: PaymentEnvelope, gate: SchemeSales): Promise<GateOutcome>
}

/** What the gate does for one payment of such a scheme. */
export type SchemeSales = {
  terms(): Terms[]
  readonly offers: Offers
  /** Nothing was sold: the 402 of this call, and why. */
  refuse402(refusal: EntitledRefusal): GateOutcome
  /** Sells the call to a hold of this port. Throws the Problem that kept it from being sold. */
  sell(port: HoldPort, hold: Hold): Promise<GateOutcome>
  /** Lets the entitlement decide whether it covers the call, as if the request carried nothing else. */
  sellBy(port: EntitlementPort): Promise<GateOutcome>
  /** What the entitlement says about this call when it came before; undefined where it did not. */
  earlier(port: EntitlementPort): Promise<GateOutcome | undefined>
  /** An answer that was sold before. */
  returnSold(sold: SoldBefore): Promise<GateOutcome>
}

export type EntitledRefusal = {
  reason: string
  detail: string
  payer: string
  network: string
  correction?: Correction | undefined
}

/** What the entry of the scheme on this network says besides, so that its client finds the right base again. */
export type Correction = { scheme: string; network: string; state: Record<string, Json> }

export type SoldBefore = { answer: AnswerContent; paymentResponse: string; delivered(): void | Promise<void> }
