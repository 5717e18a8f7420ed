import type { Address } from '@assay/protocol/address'
import type { Json } from '@assay/protocol/canonical-json'
import { type Micro, parseUsd } from '@assay/protocol/money'
import type { AnswerContent, Sale } from '../contract/paid-call.ts'
import { ConfigError } from '../kernel/config-error.ts'
import type { Tx } from '../store/database.ts'
import type { Unavailable } from './availability.ts'
import { defaultAnswerBytes, finiteAnswer } from './finite-answer.ts'
import type { PaidAccess, RouteDeclaration, RouteExample, RoutePrice } from './route.ts'
import type { InputOf, OutputOf, Schema } from './schema.ts'

type Part = Schema | undefined

export type SaleInput<P extends Part, Q extends Part, B extends Part> = {
  params: OutputOf<P>
  query: OutputOf<Q>
  body: OutputOf<B>
}

/**
 * Decimal USD for every call; a price from the input between two bounds, of which a bare probe is quoted the lowest; or what
 * `call.charge()` says after the answer was made, up to what is quoted. The last needs a scheme that can charge less.
 */
export type PriceDeclaration<Input> =
  | string
  | { upTo: string }
  | { lowest: string; highest: string; of(input: Input): string | Micro | Promise<string | Micro> }

export type SaleDeclaration<P extends Part, Q extends Part, B extends Part, O extends Part> = {
  /** Stable and unique, dotted lower-case words such as `weather.now`: the books know the route by it. */
  id: string
  /** Default: GET, or POST where there is a body. */
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** As buyers see it, mount path included; a segment `:name` is a parameter. */
  path: string
  /** Decimal USD; see Prices in embed.md for those that depend on the input or are metered. */
  price: PriceDeclaration<SaleInput<P, Q, B>>
  /** Schema of the path parameters: zod, valibot, arktype, anything of Standard Schema. */
  params?: P
  /** Schema of the query. */
  query?: Q
  /** Schema of the JSON body. */
  body?: B
  /** What the handler gives, checked before anything is charged. */
  output?: O
  /** One line for people and agents. Default: the id. */
  summary?: string
  /** Longer text for the documents. */
  description?: string
  /** Media types the handler can answer with, the first is the default. Default: JSON only. */
  representations?: readonly string[]
  /** Shown in documents; a probe of the example gets its 402. */
  example?: RouteExample
  /** Where it can be paid, in the order offered. Default: every network of the till. */
  networks?: readonly string[]
  /** Largest body in bytes; default 64 KiB. */
  bodyBytesMax?: number
  /** Largest answer in bytes; default 1 MB. */
  answerBytesMax?: number
  /** Left out of documents. */
  hidden?: boolean
  /**
   * Why it is not for sale now, asked before a price is quoted and before the handler runs: callers get 503 `not_available`
   * and nothing is charged. Without parameters: of the route as a whole, for documents. No I/O.
   */
  unavailable?(params?: Record<string, string>): Unavailable | undefined
  /** What the answer would be made from now, as `data_state` of the 402: how old, how much of it, what is missing. No I/O. */
  dataState?(params: Record<string, string>): Json
}

export type SaleCall<P extends Part, Q extends Part, B extends Part> = SaleInput<P, Q, B> & {
  /** The wallet that signed the payment, in lower case. */
  payer: Address
  /** Names the payment in the books, in events and at its status URL. */
  paymentId: string
  /** The media type that was agreed on. */
  representation: string
  /** Lower-cased request headers. */
  headers: ReadonlyMap<string, string>
  /**
   * For a metered price: what this answer costs, from zero up to the quote. Without a call the quote is charged, and
   * so it is to a buyer whose scheme moves the very amount that was quoted, such as `exact`.
   */
  charge(price: string | Micro): void
  /** Aborted when the time for the answer is over. */
  signal: AbortSignal
}

type Given<O extends Part> = InputOf<O> | Response

/** May run more than once per payment, so it changes nothing. A throw or a Response that is no 2xx takes nothing. */
export type SaleHandler<P extends Part, Q extends Part, B extends Part, O extends Part> = (
  call: SaleCall<P, Q, B>,
) => Given<O> | Promise<Given<O>>

/** For what a sale changes: `prepare` as above, then `commit` once, in the transaction of the sale. */
export type SaleEffect<P extends Part, Q extends Part, B extends Part, O extends Part> = {
  /** Makes the answer, and what `commit` needs to know (`reservation`); may run more than once per payment. */
  prepare(call: SaleCall<P, Q, B>): Promise<{ answer: Given<O>; reservation?: Json }>
  /** Gets the open transaction of the sale. What it gives replaces the prepared answer. */
  commit(tx: Tx, sale: Sale): Promise<Given<O> | undefined> | Promise<void>
  /**
   * Revokes what `commit` granted, when a reorganization undid the payment or it is refunded: needed to sell above 1 USDC
   * at once. A refund is refused where it throws `NotRefundable`, and tried again after any other error.
   */
  revoke?(tx: Tx, sale: Sale): Promise<void>
}

/** The declaration of a sale in the types of the till. Throws with all that is wrong with its prices. */
export function declareSale<P extends Part, Q extends Part, B extends Part, O extends Part>(
  sale: SaleDeclaration<P, Q, B, O>,
  made: SaleHandler<P, Q, B, O> | SaleEffect<P, Q, B, O>,
  networks: readonly string[],
): RouteDeclaration {
  const {
    answerBytesMax: bytesMax = defaultAnswerBytes,
    output,
    networks: _own,
    price,
    method,
    summary,
    ...given
  } = sale
  const { unavailable, dataState, ...rest } = given
  const effect: Pick<SaleEffect<P, Q, B, O>, 'prepare'> & Partial<SaleEffect<P, Q, B, O>> =
    typeof made === 'function' ? { prepare: async (call) => ({ answer: await made(call) }) } : made
  const { commit, revoke } = effect
  const finite = (given: unknown, contentType: string) => finiteAnswer(given, { contentType, output, bytesMax })
  const [contentType = 'application/json'] = sale.representations ?? []
  const access: PaidAccess = {
    kind: 'paid',
    price: priceOf(sale.id, price),
    networks,
    payee: 'pay_to',
    revocable: revoke !== undefined,
    ...(unavailable === undefined ? {} : { unavailable }),
    ...(dataState === undefined ? {} : { dataState }),
    prepare: async (input, call) => {
      const { payer, paymentId, representation, headers } = call
      let chargeMicro: Micro | undefined
      const given = await effect.prepare({
        ...input,
        ...{ payer, paymentId, representation, headers },
        charge: (asked) => {
          if (!isMetered(price)) throw new Error(`${sale.id}: its price is not metered, declare price: { upTo }`)
          chargeMicro = microOf(sale.id, asked)
        },
        // Made on demand: most handlers never look at it.
        get signal() {
          return call.signal
        },
      })
      const { reservation } = given
      return {
        answer: await finite(given.answer, representation),
        ...(reservation === undefined ? {} : { reservation }),
        ...(chargeMicro === undefined ? {} : { chargeMicro }),
      }
    },
    ...(commit === undefined
      ? {}
      : {
          commit: async (tx: Tx, sold: Sale): Promise<AnswerContent | undefined> => {
            const given = await commit.call(effect, tx, sold)
            return given === undefined ? undefined : finite(given, contentType)
          },
        }),
    ...(revoke === undefined ? {} : { revoke: (tx: Tx, sold: Sale) => revoke.call(effect, tx, sold) }),
  }
  return {
    ...rest,
    summary: summary ?? sale.id,
    method: method ?? (sale.body === undefined ? 'GET' : 'POST'),
    ...(output === undefined ? {} : { output }),
    access,
  }
}

const isMetered = (price: PriceDeclaration<never>): price is { upTo: string } =>
  typeof price === 'object' && 'upTo' in price

function microOf(id: string, asked: string | Micro): Micro {
  const micro = typeof asked === 'bigint' ? asked : parseUsd(asked)
  if (micro === undefined) throw new RangeError(`${id}: the price ${String(asked)} is not decimal USD`)
  return micro
}

function priceOf<Input>(id: string, price: PriceDeclaration<Input>): RoutePrice {
  const problems: string[] = []
  const read = (name: string, text: string): Micro => {
    const micro = parseUsd(text)
    if (micro === undefined)
      problems.push(`${id}: ${name} must be decimal USD such as '0.01', not ${JSON.stringify(text)}`)
    return micro ?? 0n
  }
  const declare = (): RoutePrice => {
    if (typeof price === 'string') return { kind: 'fixed', micro: read('price', price) }
    if (isMetered(price)) return { kind: 'fixed', micro: read('price.upTo', price.upTo), metered: true }
    return {
      kind: 'from_input',
      lowestMicro: read('price.lowest', price.lowest),
      highestMicro: read('price.highest', price.highest),
      of: async (input) => microOf(id, await price.of(input as Input)),
    }
  }
  const declared = declare()
  if (problems.length > 0) throw new ConfigError(problems)
  return declared
}
