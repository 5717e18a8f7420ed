import type { Address } from '@assay/protocol/address'
import type { Json } from '@assay/protocol/canonical-json'
import type { Micro } from '@assay/protocol/money'
import type { Problem } from '../kernel/problem.ts'
import type { LedgerTransaction } from '../ledger/index.ts'
import type { Tx } from '../store/database.ts'

/** Referrer and affiliate of the buyer; stored with the payment for the sale hooks. */
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
  /** The amount to charge, if the scheme can charge less than was quoted. Absent: the quote. */
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
  /** Times a reorg undid this payment before: each ending is its own sale. */
  round: number
  /** Paid by this call, or drawn from what was paid in before. */
  source: 'payment' | 'credit'
}

/**
 * How a revocable grant is used up: evenly over its time; as it is drawn, where it is `credit` of its payer; or not at all
 * while the money is not final. Without it, all of the price counts as used at once.
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
  /** The price is a maximum; what is charged is known after the answer was made. */
  metered?: boolean
  /** Also offers `exact` by Permit2. */
  permit2?: boolean
  description: string
  mimeType: string
  /** Discovery block of the 402, static per route. */
  bazaar?: Json
  commit?(tx: Tx, sale: Sale): Promise<AnswerContent | undefined>
  commitMany?: CommitMany
  /** Revokes what `commit` granted, when a reorg undid the payment or it is refunded. */
  revoke?(tx: Tx, sale: Sale): Promise<void>
  release?: ReleaseAnswer
}

/**
 * The effects of sales that end together, in one transaction; an answer for each, in the order given. An effect adds what
 * it posts about these sales to `unposted`, which is posted afterwards (`addPostings`), or posts it itself.
 */
export type CommitMany = (
  tx: Tx,
  sales: readonly Sale[],
  unposted: LedgerTransaction[],
) => Promise<readonly (AnswerContent | undefined)[]>

/** Completes an answer on its way out with what is never stored: a derived token, the receipt. Pure; given again, the same. */
export type ReleaseAnswer = (
  answer: AnswerContent & { body: Uint8Array | string },
  paymentResponse: string,
) => AnswerContent | Promise<AnswerContent>

/**
 * What a payment is bound to where a call came by another way than its own HTTP request: such a payment is not
 * good for that request, nor the other way round. `digest` is that of the whole input.
 */
export type BoundRequest = { method: string; resourceUrl: string; contentType: string; digest: Uint8Array }

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
  /** The price follows from the input, and this one has none: no price is named. */
  unpriced?: true
  /** Age and completeness of the data that an answer would use now, shown before payment. */
  dataState?(): Json
  /** Always settles within the time limit, with a Problem if need be. */
  prepare(payer: Address, paymentId: string): Promise<PreparedAnswer>
}

/** What accompanies every 402. */
export type ChallengeHeaders = {
  paymentRequired: string
  /** WWW-Authenticate, made again for every response that carries it. */
  authenticate?(): string
}

export type GateOutcome =
  /** No payment: the 402, the same bytes for the same call. */
  | ({ kind: 'challenge'; body: string } & ChallengeHeaders)
  /** Anything else that is not the answer. */
  | ({ kind: 'refused'; problem: Problem; paymentResponse?: string } & Partial<ChallengeHeaders>)
  /** The answer, to be released. `delivered` is called once the last byte has been handed to the socket. */
  | {
      kind: 'served'
      answer: AnswerContent
      paymentResponse?: string
      /** In place of `paymentResponse`, for a payer who sent a credential of the Payment scheme. */
      paymentReceipt?: string
      paymentId?: string
      delivered(): void | Promise<void>
    }

export type Gate = {
  /** The 402 of a call without payment: no database, no upstream. Undefined when the call carries a payment or an entitlement. */
  challenge(call: PaidCall): ({ body: string } & ChallengeHeaders) | undefined
  pass(call: PaidCall): Promise<GateOutcome>
}

/**
 * Runs in the transaction of the postings, for all sales of a batch at once. `unposted` are postings of these sales that are
 * still to be made: a hook that posts something itself may make them with its own, and takes them out then.
 */
export type SaleHook = (tx: Tx, sales: readonly Sale[], unposted?: LedgerTransaction[]) => Promise<void>

/** The counterpart of a sale hook, when a reorg or a refund undid the sale or `part.micro` of its amount. */
export type ReversalHook = (tx: Tx, sale: Sale, part: ReversedPart) => Promise<void>

export type ReversedPart = { reason: 'reorg' | 'refund'; micro: Micro }
