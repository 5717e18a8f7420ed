import type { Address } from '@assay/protocol/address'
import type { AssetId } from '@assay/protocol/asset'
import type { Hex } from '@assay/protocol/bytes'
import type { Json } from '@assay/protocol/canonical-json'
import type { Micro } from '@assay/protocol/money'
import type { ChainPort, KeyUse, SettlementEvidence } from '../chain/index.ts'
import type { ProblemCode } from '../kernel/problem.ts'
import type { MovedMoney } from '../ledger/index.ts'
import type { EntitledScheme } from './entitled-scheme.ts'
import type { Facilitator, FacilitatorPayment, SettleOutcome } from './facilitator.ts'
import type { Offers } from './offers.ts'
import type { PaidCall, PaidRoute } from './paid-call.ts'
import type { Terms } from './terms.ts'

/** The parts of a payment header that all schemes share, checked for shape only; nothing in it is trusted as terms. */
export type PaymentEnvelope = {
  scheme: string
  network: string
  asset: Address | undefined
  payTo: Address | undefined
  amount: string
  resourceUrl: string | undefined
  /** The scheme's own part. */
  payload: Record<string, unknown> | undefined
  identifier: string | undefined
  /** Salt of the request-binding extension. */
  bindingSalt: Hex | undefined
  /** The eip2612GasSponsoring extension, as it was received. */
  sponsoring?: unknown
  /** Compact JWS offers the client echoed, for a price that has moved since. */
  offers: string[]
  /** What we quoted for this request recently, proved by a challenge that we signed. */
  quotedMicro?: Micro
}

/** A payment as its scheme reads it. */
export type SchemePayment<Signed = unknown> = {
  envelope: PaymentEnvelope
  network: string
  payer: Address
  /** What the scheme lets this payer use once on this chain: no two claims have it. */
  paymentKey: Hex
  payTo: Address
  /** Unix seconds after which it can move nothing. */
  validBefore: bigint
  signed: Signed
}

export type SchemeDecode<Signed> =
  | { status: 'ok'; payment: SchemePayment<Signed> }
  | { status: 'malformed'; detail: string }
  | Unsupported

/** Well formed, but not accepted: another scheme of the same name may accept it. */
export type Unsupported = { status: 'unsupported'; reason: string; detail: string }

/** `reason` is an x402 error code; `code` is ours. */
export type Invalid = { status: 'invalid'; reason: string; detail: string; code?: ProblemCode }
export type CouldNotCheck = { status: 'could_not_check'; reason: string }

export type MatchOutcome = { status: 'ok'; terms: Terms } | Invalid

export type SignatureOutcome =
  /** `digest`: of all that was signed. `by`: the key of the address itself, or a contract at it. */
  { status: 'valid'; by: 'key' | 'contract'; digest: Buffer } | Invalid | CouldNotCheck

export type FundsOutcome =
  /** `used`: the key is spent. `payerIsKey`: false for an account with code, which decides for itself. */
  { status: 'ok'; balanceMicro: Micro; used: boolean; payerIsKey: boolean } | Invalid | CouldNotCheck

/** A payment that was checked against our own terms. */
export type VerifiedPayment<Signed = unknown> = {
  payment: SchemePayment<Signed>
  terms: Terms
  payerIsKey: boolean
  signedDigest: Buffer
}

/** What a claim is known by on its chain. */
export type ClaimKey = { network: string; payer: Address; paymentKey: Hex }

/** The transfer that pays a claim. `amountMicro` is what is charged. */
export type ClaimedTransfer = ClaimKey & { asset: AssetId; payTo: Address; amountMicro: Micro }

/** What is to be taken, once the answer is prepared. */
export type Charge = ClaimedTransfer & {
  id: string
  quotedMicro: Micro
  sold: Pick<FacilitatorPayment, 'resource' | 'bazaar'>
}

/**
 * One way to pay. The gate, recovery, reconciliation and the books know schemes, payment keys and transfers, and
 * nothing else of how a payer pays. Functions that read the chain throw ChainUnreadable.
 */
export type Scheme<Signed = unknown> = {
  /** Stored with its claims; unique among schemes. */
  readonly id: string
  /** As `accepts` names it. */
  readonly name: string
  /** True where a charge below the quote takes only the charge; false where the payer signed the very amount. */
  readonly chargesLess: boolean
  readonly reasons: SchemeReasons
  supports(network: string): boolean
  /** Whether a 402 of this route names it; payments by it are taken all the same. Absent: always. */
  isOffered?(route: PaidRoute, terms: Terms): boolean
  /** Whether every holder of this asset can pay by it: such a way comes first in a 402. Absent: never. */
  suitsAll?(terms: Terms): boolean

  /** The entry of `accepts`. */
  requirements(terms: Terms): Record<string, unknown>
  /** Extensions that go with it in the 402. */
  extensions?(terms: Terms): Record<string, Json>
  /** Strict: no other reader must find another payment in the same bytes. */
  decode(envelope: PaymentEnvelope): SchemeDecode<Signed>
  /** The terms of ours, current or of an offer that we signed, that the payment satisfies for this request. */
  match(payment: SchemePayment<Signed>, call: PaidCall, current: readonly Terms[], offers: Offers): MatchOutcome

  checkWindow(payment: SchemePayment<Signed>, terms: Terms, nowSeconds: number): { status: 'valid' } | Invalid
  checkSignature(payment: SchemePayment<Signed>, chain: ChainPort): Promise<SignatureOutcome>
  /** Read before the claim; bad news is confirmed by enough endpoints. */
  readFunds(verified: VerifiedPayment<Signed>, chain: ChainPort): Promise<FundsOutcome>
  /** The last check before money may move: whether it is still good, and for long enough. */
  checkAgain(
    verified: VerifiedPayment<Signed>,
    chain: ChainPort,
    nowSeconds: number,
  ): Promise<{ status: 'valid' } | (Invalid & { released: string }) | CouldNotCheck>

  settle(
    verified: VerifiedPayment<Signed>,
    charge: Charge,
    facilitator: Facilitator,
    signal: AbortSignal,
  ): Promise<SettleOutcome>
  /** Whether our own simulation fails for the cause that a facilitator gave. */
  confirmsRefusal(verified: VerifiedPayment<Signed>, charge: Charge, chain: ChainPort, reason: string): Promise<boolean>

  readonly evidence: SchemeEvidence
}

/** How the chain shows what became of a claim. Past `validBefore` and unused at a final block, it is over for good. */
export type SchemeEvidence = {
  /** Whether the key is spent, by our transfer, another one or a cancellation. */
  isUsed(chain: ChainPort, key: ClaimKey, at: 'latest' | bigint): Promise<boolean>
  byTransaction(chain: ChainPort, claim: ClaimedTransfer, transaction: Hex): Promise<SettlementEvidence>
  /** Searched from a block on. */
  byKey(chain: ChainPort, claim: ClaimedTransfer, fromBlock: bigint): Promise<SettlementEvidence>
  /** What a key was used for, expected or not. */
  useOf(chain: ChainPort, key: ClaimKey, fromBlock: bigint): Promise<KeyUse>
  /** The key of the claim that a recorded transfer may pay. */
  keyOf(transfer: MovedMoney): Promise<Hex | undefined>
}

/** Reasons shown to buyers, in the terms of the scheme. */
export type SchemeReasons = {
  /** The key stands for another payment of this payer. */
  reused: ProblemCode
  /** Reason of a payment whose key was spent before it came. */
  usedBefore: string
  usedUp: string
  usedOtherwise: string
  usedForDust: string
  /** Its key was used for a transfer that brought us nothing. */
  paidToOthers: { reason: string; detail: string }
  canceled: { reason: string; detail: string }
  /** Reason of a claim whose time passed unused. */
  expired: string
}

export type Schemes = {
  readonly all: readonly Scheme[]
  /** Those that may read a payment, in the order of registration. */
  named(name: string, network: string): readonly Scheme[]
  /** Those whose payments move nothing by themselves, by name. */
  readonly entitled: ReadonlyMap<string, EntitledScheme>
  /** The scheme of a claim. Throws for one that is not registered: nothing is concluded about its money. */
  of(claim: { id: string; scheme: string }): Scheme
}
