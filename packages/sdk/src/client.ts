import type { KeySet } from '@assay/protocol/keys/key-directory'
import { parseUsd } from '@assay/protocol/money'
import type { Verification } from '@assay/protocol/signatures/verify-response'
import type { LocalAccount } from 'viem'
import { buy, signFor } from './buy.ts'
import { type AssayResult, type Budget, type ClientContext, verifyExchange } from './context.ts'
import { type CreditOptions, createCreditState } from './credit/credit-state.ts'
import { drawCredit, drawKnown, quoteCredit } from './credit/draw-credit.ts'
import { AssayError } from './errors.ts'
import { type Exchange, exchange, type PreparedRequest, prepareRequest } from './exchange.ts'
import { createKeyPins } from './key-pins.ts'
import { baseNetwork, type PayableNetwork, polygonNetwork } from './networks.ts'
import { createChannelRegistry } from './payment-methods/channel.ts'
import type { PaymentMethodPolicy } from './payment-methods/choose-payment-method.ts'
import { defaultPlatform, type Platform } from './platform.ts'
import type { OnProgress } from './progress.ts'
import { type AgreedTerms, type Quote, readOffer } from './quote.ts'
import type { Purchase } from './sign-payment.ts'
import { requireAllowedHost } from './spending-policy.ts'

export type AssayClientOptions = {
  /** The wallet that signs payments: a local account of viem. */
  account: LocalAccount
  /** Relative URLs resolve against it, and only its host is paid unless `hosts` names others. */
  baseUrl?: string
  /** Decimal USD, such as "0.05". One purchase never signs for more, retries included. */
  maxPerCallUsd: string
  /** Everything this client may sign for in its life. */
  maxTotalUsd?: string
  /** Everything it may sign for in one day (UTC). */
  maxPerDayUsd?: string
  /** Where it may pay, best first. Base and Polygon with their real USDC by default. */
  networks?: readonly PayableNetwork[]
  /** Hosts that may be paid. Default: that of `baseUrl`. */
  hosts?: readonly string[]
  /** The only addresses it pays; default: any that a seller names. */
  payees?: readonly string[]
  /** Asked with the quote before anything is signed; false stops the purchase. */
  confirm?: (quote: Quote) => boolean | Promise<boolean>
  /**
   * Calls are paid from credit where there is enough of it: the wallet's own, or, under a mandate, its owner's. A wallet
   * without enough credit of its own pays on chain; under a mandate nothing but credit is used.
   */
  credit?: CreditOptions
  /** How to pay on chain, or `only` one way; by default the one that costs and risks least. See `Quote.why`. */
  paymentMethods?: PaymentMethodPolicy
  /** `require` refuses what is not signed by the node; `report` only tells. */
  verify?: 'require' | 'report'
  /** Key directories by origin; others are pinned at first use. */
  keys?: Readonly<Record<string, unknown>>
  /** Wallet of the node's operator, which may vouch for new keys. */
  operator?: `0x${string}`
  /** Longest a purchase may take in all, retries included. */
  deadlineMs?: number
  /** Called at every step of a purchase: quoted, signed, waiting, settled. */
  onProgress?: OnProgress
  /** How requests are sent. Default: the global fetch. */
  fetch?: (request: Request) => Promise<Response>
  /** Clock, random bytes and timers, for tests and unusual runtimes. */
  platform?: Partial<Platform>
}

export type AssayClient = {
  /** Like fetch, and pays a 402 within the policy. */
  fetch(url: string | URL, init?: RequestInit, options?: BuyOptions): Promise<AssayResult>
  /** What the request would cost, without signing anything. What costs nothing has been answered by then. */
  quote(url: string | URL, init?: RequestInit): Promise<QuoteOutcome>
  /**
   * Signs the payment for a request within the policy and sends nothing, for programs that send it themselves, such as
   * curl: `paymentHeader` is the value of PAYMENT-SIGNATURE. What it signed for counts against the budget.
   */
  sign(url: string | URL, init?: RequestInit, options?: Pick<BuyOptions, 'agreed'>): Promise<Purchase>
  pinnedKeys(origin: string): KeySet | undefined
  /** The key directory the pinned keys came from, to keep with an answer. */
  keyDirectory(origin: string): unknown
}

export type QuoteOutcome = { status: 'priced'; quote: Quote } | { status: 'answered'; result: AssayResult }

export type BuyOptions = {
  /** Goes on with an earlier purchase of the same request instead of making a new one. */
  purchase?: Purchase
  /** A quote somebody agreed to: other terms are refused before anything is signed. */
  agreed?: AgreedTerms
}

export function createAssayClient(options: AssayClientOptions): AssayClient {
  const context = createContext(options)
  const prepare = (url: string | URL, init: RequestInit | undefined) =>
    prepareRequest(options.baseUrl === undefined ? new URL(url) : new URL(url, options.baseUrl), init)
  return {
    pinnedKeys: (origin) => context.pins.keysOf(origin),
    keyDirectory: (origin) => context.pins.directoryOf(origin),
    quote: async (url, init) => {
      const prepared = await prepare(url, init)
      const probed = await probe(context, prepared)
      if (probed.first.status !== 402) return { status: 'answered', result: unpaid(probed) }
      const drawn = await quoteCredit(context, prepared, probed.first)
      return { status: 'priced', quote: drawn ?? readOffer(context, prepared, probed.first, { anyPrice: true }).quote }
    },
    sign: async (url, init, { agreed } = {}) => {
      const prepared = await prepare(url, init)
      requireAllowedHost(prepared.url, context.policy)
      const { first } = await probe(context, prepared)
      if (first.status !== 402)
        throw new AssayError('request_failed', { detail: `it costs nothing: the node answered ${first.status}` })
      return signFor(context, prepared, { challenge: first, ...(agreed === undefined ? {} : { agreed }) })
    },
    fetch: async (url, init, { purchase, agreed } = {}) => {
      const prepared = await prepare(url, init)
      if (purchase !== undefined) return buy(context, prepared, { purchase })
      const known = await drawKnown(context, prepared, agreed)
      if (known !== undefined) return known
      const probed = await probe(context, prepared)
      if (probed.first.status !== 402) return unpaid(probed)
      const drawn = await drawCredit(context, prepared, probed.first, agreed)
      if (drawn !== undefined) return drawn
      return buy(context, prepared, { challenge: probed.first, ...(agreed === undefined ? {} : { agreed }) })
    },
  }
}

type Probed = { first: Exchange; verified: Verification }

function unpaid({ first, verified }: Probed): AssayResult {
  return { response: first.response, payment: { status: 'none' }, receipt: undefined, verified, purchase: undefined }
}

/** The request without a payment. */
async function probe(context: ClientContext, prepared: PreparedRequest): Promise<Probed> {
  const first = await exchange(context.platform, prepared).catch((error: unknown) => {
    if (error instanceof AssayError) throw error
    throw new AssayError('request_failed', { detail: prepared.url }, error)
  })
  return { first, verified: await verifyExchange(context, prepared, first) }
}

function createContext(options: AssayClientOptions): ClientContext {
  const maxPerCallMicro = parseUsd(options.maxPerCallUsd)
  const totalMicro = optionalUsd(options.maxTotalUsd)
  const dayMicro = optionalUsd(options.maxPerDayUsd)
  if (maxPerCallMicro === undefined || totalMicro === 'wrong' || dayMicro === 'wrong')
    throw new RangeError('maximums are decimal USD with at most six decimals, such as "0.05"')
  const platform: Platform = {
    ...defaultPlatform,
    ...options.platform,
    ...(options.fetch ? { fetch: options.fetch } : {}),
  }
  const baseHost = options.baseUrl === undefined ? undefined : [new URL(options.baseUrl).host]
  return {
    account: options.account,
    platform,
    policy: {
      maxPerCallMicro,
      networks: options.networks ?? [baseNetwork, polygonNetwork],
      hosts: options.hosts ?? baseHost,
      payees: options.payees?.map((payee) => payee.toLowerCase()),
      paymentMethods: options.paymentMethods,
    },
    pins: createKeyPins({
      platform,
      ...(options.keys === undefined ? {} : { given: options.keys }),
      ...(options.operator === undefined ? {} : { operator: options.operator }),
    }),
    limits: { deadlineMs: options.deadlineMs ?? 90_000, attemptsMax: 30 },
    mustVerify: options.verify !== 'report',
    channels: createChannelRegistry(),
    budget: createBudget(platform, totalMicro, dayMicro),
    confirm: options.confirm,
    onProgress: options.onProgress ?? (() => {}),
    credit: creditOf(options),
  }
}

function creditOf({ credit, paymentMethods }: AssayClientOptions) {
  if (paymentMethods?.only !== undefined && paymentMethods.only !== 'credit') return undefined
  const chosen = credit ?? (paymentMethods?.only === 'credit' ? 'prefer' : undefined)
  return chosen === undefined ? undefined : createCreditState(chosen)
}

function optionalUsd(text: string | undefined): bigint | undefined | 'wrong' {
  return text === undefined ? undefined : (parseUsd(text) ?? 'wrong')
}

const dayMs = 86_400_000

function createBudget(platform: Platform, totalMicro: bigint | undefined, dayMicro: bigint | undefined): Budget {
  let spent = 0n
  let day = -1
  let spentToday = 0n
  return {
    take: (micro) => {
      const today = Math.floor(platform.nowMs() / dayMs)
      // A clock that is set back must not open yesterday's budget again.
      if (today > day) {
        day = today
        spentToday = 0n
      }
      const over = (limit: bigint | undefined, used: bigint) => limit !== undefined && used + micro > limit
      if (over(totalMicro, spent) || over(dayMicro, spentToday)) throw new AssayError('budget_exhausted')
      spent += micro
      spentToday += micro
      return () => {
        spent -= micro
        if (day === today) spentToday -= micro
      }
    },
  }
}
