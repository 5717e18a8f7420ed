import type { EntitlementPort } from './contract/entitlement.ts'
import type { RefundRequest, RefundRequestOutcome } from './refunds/refund-payment.ts'
import type {
  PlainResponse,
  RouteDeclaration,
  SaleDeclaration,
  SaleEffect,
  SaleHandler,
  Schema,
  SoldRequest,
} from './selling/index.ts'
import type { Database } from './store/database.ts'
import type { SendSelf } from './test-self.ts'
import type { TillEvents } from './till-events.ts'

/** What an adapter knows of a request beside the request itself. */
export type WebCall = {
  /** As the framework parsed them. Without them the path itself is read. */
  params?: Readonly<Record<string, string>>
  remoteAddress?: string
  /** Aborted when the caller goes before the answer was written whole. Absent where that cannot be seen. */
  clientGone?: AbortSignal
  /**
   * Called with what must be called once the last byte was handed to the socket. Absent where that cannot be seen: the
   * answer then counts as delivered when it is given out.
   */
  onDelivery?(delivered: () => void): void
}

/** A route for sale. Never rejects: whatever goes wrong is a signed problem. */
export type SoldRoute = {
  (request: Request, call?: WebCall): Promise<Response>
  readonly declaration: RouteDeclaration
  /**
   * For adapters that do not have a Request; at once where the answer is known. `delivered` of the response must be called,
   * at once where it cannot be seen.
   */
  answer(request: SoldRequest): PlainResponse | Promise<PlainResponse>
}

export type Sell = <
  P extends Schema | undefined = undefined,
  Q extends Schema | undefined = undefined,
  B extends Schema | undefined = undefined,
  O extends Schema | undefined = undefined,
>(
  declaration: SaleDeclaration<P, Q, B, O>,
  made: SaleHandler<P, Q, B, O> | SaleEffect<P, Q, B, O>,
) => SoldRoute

/** The same in one call with a handler for a framework. */
export type SellAs<Handler> = <
  P extends Schema | undefined = undefined,
  Q extends Schema | undefined = undefined,
  B extends Schema | undefined = undefined,
  O extends Schema | undefined = undefined,
>(
  till: Pick<Till, 'sell'>,
  declaration: SaleDeclaration<P, Q, B, O>,
  made: SaleHandler<P, Q, B, O> | SaleEffect<P, Q, B, O>,
) => Handler

export type Till = {
  /** Declares a route for sale. Throws with all that is wrong with the declaration. */
  sell: Sell
  /** The route that answers a path, with the values of its parameters; nothing is normalised. */
  match(method: string, path: string): { route: SoldRoute; params: Readonly<Record<string, string>> } | undefined
  /** Answers every route that is sold, and the documents. */
  fetch: (request: Request, call?: Omit<WebCall, 'params'>) => Promise<Response>
  /** Every route that is for sale so far. */
  sold(): readonly SoldRoute[]
  /** OpenAPI, llms.txt, /.well-known/x402, keys, payment status and problem codes, to be routed by a framework. */
  documents(): readonly SoldRoute[]
  /** After the fact, in the process that made the sale. Returns the way to stop. */
  on<Name extends keyof TillEvents>(name: Name, listener: (event: TillEvents[Name]) => void): () => void
  /** Puts a refund down; the jobs carry it out from custody once the payment is final. */
  refund(request: RefundRequest): Promise<RefundRequestOutcome>
  /** Adds something a wallet may use without paying per call: a subscription, a pass. */
  entitle(port: EntitlementPort): void
  /**
   * To be called when the server listens, with its address or the `fetch` of the application. Asks for a price and for a
   * meaningless answer of each sold route and says what middleware changed on the way, and which route or document is missing.
   */
  selfTest(send: SendSelf): Promise<string[]>
  /** One round of all jobs, for a cron. */
  runJobs(): Promise<{ failed: string[] }>
  /** By name, whether what is needed to sell works. */
  ready(): Promise<Record<string, boolean>>
  /** `publicUrl`. */
  readonly origin: string
  /** The pool of the till, for the seller's own tables in the same database. */
  readonly database: Database
  /** Lets requests in flight end, then closes everything. */
  close(): Promise<void>
}
