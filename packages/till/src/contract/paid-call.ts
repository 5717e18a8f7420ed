import type { Address } from '@assay/protocol/address'
import type { Json } from '@assay/protocol/canonical-json'
import type { Micro } from '@assay/protocol/money'
import type { Problem } from '../kernel/problem.ts'
import type { LedgerTransaction } from '../ledger/index.ts'
import type { Tx } from '../store/database.ts'

/** Who brought the buyer; kept with the payment for the sale hooks. */
export type Attribution = { ref?: Address; aff?: Address }

/** The bytes of an answer, before signing. A stream body is only for what is not stored. */
export type AnswerContent = {
  status: number
  contentType: string
  body: Uint8Array | string | AsyncIterable<Uint8Array | string>
  headers?: Record<string, string>
  /** From a commit: what the receipt of the sale shall bind the seller to, by name. Signed with it, not sent beside it. */
  commitments?: Record<string, Json>
}

export type PreparedAnswer = {
  answer: AnswerContent & { body: Uint8Array | string }
  /** What `commit` will need; stored durably with the answer. */
  reservation?: Json
  /** What is charged where the scheme can charge less than was quoted. Absent: the quote. */
  chargeMicro?: Micro
}

/** One finished sale, as commit and the sale hooks see it. */
export type Sale = {
  paymentId: string
  routeId: string
  network: string
  payer: Address
  amountMicro: Micro
  payee: 'pay_to' | 'custody'
  attribution: Attribution
  reservation: Json
  /** Above the finality limit: granted, but revoked on a reorg. */
  provisional: boolean
  transaction: string
  settledAtMs: number
  /** What taking it cost in USDC; nothing for a draw of credit. */
  feeMicro: Micro
  /** Times a reorg undid this payment before: each ending is a sale of its own. */
  round: number
  /** Paid by this very call, or drawn from what was paid in before. */
  source: 'payment' | 'credit'
}

/**
 * How a revocable grant is used up: evenly over its time, as it is drawn from credit, or not at all while the money is
 * not final. Without it, all of the price counts as used at once.
 */
export type Consumption = { seconds: number } | 'credit' | 'none'

/** Facts of a paid route that the gate needs, derived from its declaration. */
export type PaidRoute = {
  id: string
  networks: readonly string[]
  /** Credit that was paid in on another chain does not pay for it. */
  creditOnNetworksOnly?: boolean
  payee: 'pay_to' | 'custody'
  revocable: boolean
  consumption?: Consumption
  /** The price is the same whatever the input; otherwise signed offers name the input they are for. */
  fixedPrice?: boolean
  description: string
  mimeType: string
  /** Discovery block of the 402, static per route. */
  bazaar?: Json
  commit?(tx: Tx, sale: Sale): Promise<AnswerContent | undefined>
  commitMany?: CommitMany
  /** Takes back what `commit` gave, when a reorg took the money away. */
  revoke?(tx: Tx, sale: Sale): Promise<void>
  release?: ReleaseAnswer
}

/** The effects of sales that end together, in one transaction; an answer for each, in the order given. */
export type CommitMany = (tx: Tx, sales: readonly Sale[]) => Promise<readonly (AnswerContent | undefined)[]>

/** Completes an answer on its way out with what is never stored: a derived token, the receipt. Pure; given again, the same. */
export type ReleaseAnswer = (
  answer: AnswerContent & { body: Uint8Array | string },
  paymentResponse: string,
) => AnswerContent | Promise<AnswerContent>

/** One request to a paid route, stripped of HTTP. */
export type PaidCall = {
  route: PaidRoute
  method: string
  /** Absolute, from configuration, query included, attribution removed. */
  resourceUrl: string
  contentType: string
  /** What the request itself named, and its body: a signature over the request covers these. */
  received: { authority: string; path: string; query: string }
  rawBody: Uint8Array
  /** sha256 of the body bytes. */
  bodyDigest: Uint8Array
  /** Negotiated media type. */
  representation: string
  priceMicro: Micro
  attribution: Attribution
  headers: ReadonlyMap<string, string>
  remoteAddress: string
  /** Aborted when the client's connection closes before the answer was written whole. */
  clientGone: AbortSignal
  /** Set when the input is wrong: an unpaid call still gets its 402 (with this in the body), a paid one 400. */
  inputProblem?: Problem
  /** Ends in time by itself, if only with a Problem. */
  prepare(payer: Address, paymentId: string): Promise<PreparedAnswer>
}

export type GateOutcome =
  /** No payment: the 402, the same bytes for the same call. */
  | { kind: 'challenge'; paymentRequired: string; body: string }
  /** Anything else that is not the answer. `paymentRequired` accompanies every 402. */
  | { kind: 'refused'; problem: Problem; paymentRequired?: string; paymentResponse?: string }
  /** The answer, to be released. `delivered` is called once the last byte has been handed to the socket. */
  | { kind: 'served'; answer: AnswerContent; paymentResponse?: string; paymentId?: string; delivered(): void }

export type Gate = {
  /** The 402 of a call without payment: no database, no upstream. Undefined when the call carries a payment or an entitlement. */
  challenge(call: PaidCall): { paymentRequired: string; body: string } | undefined
  pass(call: PaidCall): Promise<GateOutcome>
}

/** What a wallet may use without paying per call: subscriptions, passes and credit implement it. */
export type EntitlementPort = {
  /** Name in metrics and in the stored payment row. */
  name: string
  /** True when the request carries this kind of credential; no I/O. */
  claims(headers: ReadonlyMap<string, string>): boolean
  hold(call: PaidCall): Promise<HoldOutcome>
  /** What became of this very call when it came before. Asked before a 402 or a changed input would make its caller pay again. */
  earlier?(call: PaidCall): Promise<HoldOutcome | undefined>
  /** In the transaction of the effect, before it. */
  capture(tx: Tx, holdId: string): Promise<Capture | undefined>
  /** The same for many held calls whose holds told what they move, in one statement. */
  captureAll?(tx: Tx, held: readonly HeldDraw[]): Promise<void>
  /** After the effect: keeps the answer where the caller named the call, to be given again. */
  keep?(tx: Tx, holdId: string, answer: AnswerContent): Promise<void>
  /** Idempotent; also called by recovery for holds whose owner has gone. */
  release(holdId: string): Promise<void>
  /** Takes what was promised, in the transaction of the sales. */
  takeAll?(tx: Tx, promised: readonly Promised[]): Promise<(TakenDraw | NotTaken)[]>
  /** What was taken for a promised call, if it was; asked when a commit ended unseen. */
  taken?(callId: string): Promise<Draw | undefined>
  /** Whether a hold ended in a capture; asked when a commit ended unseen. */
  captured?(holdId: string): Promise<boolean>
  /** Names a call that was taken unseen after itself and keeps its answer; false when it was not taken. */
  nameTaken?(callId: string, call: PaidCall, answer: AnswerContent): Promise<boolean>
}

export type HoldOutcome =
  /**
   * `callId`: postings of the capture carry it, so the sale must be known by it. `draw`: what the capture will move.
   * `named`: false when nobody can ask for the answer again, so that it need not be kept.
   */
  | { status: 'held'; holdId: string; account: Address; callId?: string; draw?: Draw; named?: boolean }
  | Promised
  /** The same named call was served before: its answer again, nothing more is used. */
  | { status: 'served'; answer: AnswerContent }
  /** Does not cover this call: the answer is a 402 with this note, and what else helps the caller choose. */
  | { status: 'not_covered'; note: string; extra?: Record<string, unknown> }
  | { status: 'refused'; problem: Problem }

export type DrawRequest = {
  id: string
  account: Address
  /** Where its credit may lie, best first. */
  networks: readonly string[]
  amountMicro: Micro
  route: PaidRoute
  fingerprint: string
  key: string | undefined
  mandateId: string | undefined
  /** Of the proof: claimed with the hold, so that a copy of the request draws nothing. */
  nonce: { key: string; expiresAtMs: number }
  /** What the caller gets when it cannot be drawn. */
  notHeld(drawn: DrawOutcome): Promise<HoldOutcome>
}

export type DrawOutcome = {
  /** `held`, or why not. */
  outcome: string
  network: string | null
  leftMicro: Micro | null
}

/** Whoever evidently has the price: nothing is set aside, and it is taken with the answer, in one go. */
export type Promised = { status: 'promised'; account: Address; callId: string; named: boolean; request: DrawRequest }

/** Its posting is the caller's to make, in the same transaction. */
export type TakenDraw = { status: 'taken'; draw: Draw; posting: LedgerTransaction }
/** Says what a hold would have said. */
export type NotTaken = { status: 'not_taken'; why(): Promise<HoldOutcome> }
export type TakeOutcome = Pick<TakenDraw, 'status' | 'draw'> | NotTaken

/** Credit that a hold set aside, and what is left of that balance beside it. */
export type Draw = Capture & { leftMicro: Micro }

export type HeldDraw = { holdId: string; account: Address; route: PaidRoute; draw: Draw }

/** Money that a capture moved, so that the sale counts as one. Nothing moved: no sale. */
export type Capture = { network: string; amountMicro: Micro }

/**
 * Runs in the transaction of the postings, for all sales of a batch at once. `unposted` are postings of these sales that are
 * still to be made: a hook that posts something itself may make them with its own, and takes them out then.
 */
export type SaleHook = (tx: Tx, sales: readonly Sale[], unposted?: LedgerTransaction[]) => Promise<void>

/** The counterpart of a sale hook, when a reorg or a refund undid the sale or `part.micro` of its amount. */
export type ReversalHook = (tx: Tx, sale: Sale, part: ReversedPart) => Promise<void>

export type ReversedPart = { reason: 'reorg' | 'refund'; micro: Micro }
