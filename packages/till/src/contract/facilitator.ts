import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import type { Json } from '@assay/protocol/canonical-json'
import type { Micro } from '@assay/protocol/money'

/** What is sold, as the 402 and the facilitator see it: all of it from the declaration and from configuration. */
export type SoldResource = { url: string; description?: string; mimeType?: string; serviceName?: string }

/** A payment as a facilitator sees it: client extensions are gone, terms are our own. */
export type FacilitatorPayment = {
  paymentId: string
  scheme: string
  network: string
  asset: Address
  payTo: Address
  payer: Address
  paymentKey: Hex
  /** What is to be taken. */
  amountMicro: Micro
  /** What the payer agreed to, where less is taken. */
  acceptedMicro?: Micro
  maxTimeoutSeconds: number
  resource: SoldResource
  /** Our own Bazaar block: facilitators list what they settle by it. */
  bazaar?: Json
  /** What the scheme adds to its entry of `accepts`. */
  extra: Record<string, Json>
  /** What the payer signed, as the scheme writes it in JSON. */
  payload(): Json
}

export type SettleOutcome =
  /** A hint, never proof: our own receipt read decides. */
  | { status: 'submitted'; transaction: Hex; feeMicro: Micro; gasGwei?: bigint }
  /**
   * Not settled. `reason` is one of the x402 error codes. `payloadSent`: the signed payload is known outside this process,
   * to a facilitator or from a transaction, so that anyone may still carry it.
   */
  | { status: 'refused'; reason: string; payloadSent: boolean; message?: string; gasGwei?: bigint }
  /** Anything that cannot be distinguished from a late success: timeouts, 5xx, pending, nonsense. */
  | { status: 'unknown'; reason: string; transaction?: Hex }

export type VerifyOutcome =
  | { status: 'valid' }
  | { status: 'invalid'; reason: string; message?: string }
  | { status: 'could_not_check'; reason: string }

export type SupportedKind = { x402Version: number; scheme: string; network: string; extra?: Record<string, unknown> }

/** Wallets by which payments of a scheme are settled, and the x402 extensions of payments that are carried at their cost. */
export type Settlers = { wallets: readonly Address[]; extensions: readonly string[] }

/** Submits payments to the chain: `local`, `cdp`, or any x402 facilitator by URL. */
export type Facilitator = {
  readonly name: string
  /** Whether it can submit this payment, by the scheme, the means of transfer and whom the payer signed it for. */
  carries(payment: FacilitatorPayment): boolean
  verify(payment: FacilitatorPayment, signal: AbortSignal): Promise<VerifyOutcome>
  settle(payment: FacilitatorPayment, signal: AbortSignal): Promise<SettleOutcome>
  /** Called when the chain contradicts its report about a payment. */
  contradicted?(paymentId?: string): void
  /** For schemes whose terms name a wallet of the facilitator. Undefined, or absent, where it settles none of their payments. */
  settlersOf?(scheme: string, network: string): Settlers | undefined
  /** Asks an external facilitator what it supports; `carries` and `settlersOf` go by that until the next time. */
  refresh?(signal: AbortSignal): Promise<void>
  /** What it charges for one settlement more, counted when asked; absent where nothing is charged. */
  settlementFee?(): Promise<Micro>
  supported(signal: AbortSignal): Promise<{ kinds: SupportedKind[]; signers: Record<string, string[]> }>
}
