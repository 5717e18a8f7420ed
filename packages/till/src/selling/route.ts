import type { Address } from '@assay/protocol/address'
import type { Json } from '@assay/protocol/canonical-json'
import type { Micro } from '@assay/protocol/money'
import type {
  AnswerContent,
  Attribution,
  BoundRequest,
  CommitMany,
  Consumption,
  PreparedAnswer,
  ReleaseAnswer,
  Sale,
} from '../contract/paid-call.ts'
import type { Tx } from '../store/database.ts'
import type { Unavailable } from './availability.ts'
import type { PlainRequest, PlainResponse } from './plain.ts'
import type { Schema } from './schema.ts'

/** One declaration per route; reading, the 402, OpenAPI, llms.txt and manifests are derived from it. */
export type RouteDeclaration = {
  /** Stable and unique, such as `sandbox.echo.get`; the ledger and metrics use it. */
  id: string
  /** The group of documents it is listed in. */
  area?: string
  /** Free routes that most buyers need: in the short OpenAPI document, as everything that is sold is. */
  main?: boolean
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Exact path; a segment `:name` is a parameter. No trailing slash. */
  path: string
  /** One line for people and agents, at most 120 characters. */
  summary: string
  /** At most 450 characters. */
  description?: string
  params?: Schema | undefined
  query?: Schema | undefined
  body?: Schema | undefined
  /** `text`: the schema gets the body as UTF-8 text, whatever media type it names. Default: JSON. */
  bodyFormat?: 'json' | 'text'
  /** Media types this route can answer with, the first is the default. Default: JSON only. */
  representations?: readonly string[]
  /** Shape of the JSON answer. */
  output?: Schema
  /** Examples shown in OpenAPI and Bazaar; must satisfy the schemas. */
  example?: RouteExample
  access: FreeAccess | PaidAccess
  /** Left out of documents and manifests. */
  hidden?: boolean
  /** Largest body in bytes; default 64 KiB. */
  bodyBytesMax?: number
}

/** With what documents show of every route. */
export type DescribedRoute = RouteDeclaration & { output: Schema; example: RouteExample & { output: unknown } }

export type RouteExample = {
  params?: Record<string, string>
  query?: Record<string, string>
  body?: unknown
  output?: unknown
}

export type RouteInput = {
  // biome-ignore lint/suspicious/noExplicitAny: each route narrows its own input through its schemas
  params: any
  // biome-ignore lint/suspicious/noExplicitAny: see above
  query: any
  // biome-ignore lint/suspicious/noExplicitAny: see above
  body: any
}

/** What every handler knows about the call it answers. */
export type CallContext = {
  requestId: string
  method: string
  /** Our own absolute URL of the resource, query included, without what names who brought the buyer. Never from Host. */
  resourceUrl: string
  /** What the request itself named, as a signature over it covers it: attribution included. */
  received: { authority: string; path: string; query: string }
  representation: string
  attribution: Attribution
  /** Lower-cased request headers, for proofs. */
  headers: ReadonlyMap<string, string>
  rawBody: Uint8Array
  remoteAddress: string
  signal: AbortSignal
  /** In place of method, URL and body, for payments. */
  bound?: BoundRequest
  /** Sends another request to the app that answers this one, where the app offers it. */
  dispatch?(request: PlainRequest): Promise<PlainResponse>
}

/** `paymentResponse`: of the payment that bought it, where it is given again. */
export type FreeAnswer = AnswerContent & { paymentResponse?: string }

export type FreeAccess = {
  kind: 'free'
  handle(input: RouteInput, call: CallContext): Promise<FreeAnswer>
  /** Security scheme of OpenAPI when a proof is needed. */
  security?: 'siwx' | 'erc8128' | 'bearer'
}

/** `priceMicro`: what the call was quoted. */
type PreparedCall = CallContext & { payer: Address; paymentId: string; priceMicro: Micro }

export type PaidAccess = {
  kind: 'paid'
  price: RoutePrice
  /** CAIP-2 networks on which it can be paid, in the order offered. */
  networks: readonly string[]
  /** Credit that was paid in on another chain does not pay for it: what is sold is backed by money on its own. */
  creditOnNetworksOnly?: boolean
  /** Also offers `exact` by Permit2, where a wallet of ours can settle it and the 402 has room. */
  permit2?: boolean
  payee: 'pay_to' | 'custody'
  /** What is sold can be revoked, so it may be granted `provisional` above 1 USDC. */
  revocable: boolean
  /** How a revocable grant is used up; all at once unless declared. */
  consumption?: Consumption
  /** Throws a Problem (404) where no such resource can exist, before any 402. No I/O. */
  routable?(params: Record<string, string>): void
  /**
   * Why this is not for sale now: asked before a 402 is made and before an answer is prepared, so that nobody pays for
   * nothing; a call that was paid before still gets its answer. Without parameters: of the route as a whole. No I/O.
   */
  unavailable?(params?: Record<string, string>): Unavailable | undefined
  /** What the answer would be made from now, in the 402: how old it is, how much of it, what is missing. No I/O. */
  dataState?(params: Record<string, string>): Json
  /** Makes the answer and, where needed, a reservation. No other side effect; at most 15 s. */
  prepare(input: RouteInput, call: PreparedCall): Promise<PreparedAnswer>
  /** The effect that was paid for, in the transaction of the postings. May replace the stored answer. */
  commit?(tx: Tx, sale: Sale): Promise<AnswerContent | undefined>
  /** Instead of `commit`, where many sales at once cost hardly more than one: all of them take effect, or none. */
  commitMany?: CommitMany
  /** Revokes what `commit` granted, when a reorg undid the payment or it is refunded. Needed where `revocable`. */
  revoke?(tx: Tx, sale: Sale): Promise<void>
  /** Completes a stored answer with what is never stored, each time it is given. */
  release?: ReleaseAnswer
}

/** Input that asks for more than the price buys. */
export type MoreThanFixed = {
  highestMicro: Micro
  /** Undefined where the price itself is meant. A Problem that it throws is answered before any money is taken. */
  of(input: RouteInput): Promise<Micro | undefined> | Micro | undefined
  /** It is a maximum, and what is charged is known afterwards. */
  metered?: true
  /** Where the money of such a call goes. Default: where that of the others goes. */
  payee?: PaidAccess['payee']
}

export type RoutePrice =
  /** `metered`: quoted to everyone, and what is charged is known after the answer was made. */
  | { kind: 'fixed'; micro: Micro; metered?: true; more?: MoreThanFixed }
  /** Price from the input; a bare probe is quoted `lowestMicro`. */
  | { kind: 'from_input'; lowestMicro: Micro; highestMicro: Micro; of(input: RouteInput): Promise<Micro> | Micro }
