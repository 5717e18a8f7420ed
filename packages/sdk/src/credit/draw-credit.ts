import { decodeHeader, encodeHeader, isRecord } from '@assay/protocol/json-object'
import { formatUsd, parseMicro } from '@assay/protocol/money'
import { bytesToHex } from 'viem/utils'
import { type AssayResult, type ClientContext, verifyExchange } from '../context.ts'
import { AssayError } from '../errors.ts'
import { type Exchange, exchange, type PreparedRequest, problemOf } from '../exchange.ts'
import type { PayableNetwork } from '../networks.ts'
import { creditChoice } from '../payment-methods/choose-payment-method.ts'
import type { PaymentOutcome } from '../payment-outcome.ts'
import { type Offer, parsePaymentRequired } from '../payment-required.ts'
import type { AgreedTerms, Quote } from '../quote.ts'
import { signRequest } from '../sign-request.ts'
import { requireAllowedHost, requireSameResource } from '../spending-policy.ts'
import { type CreditState, rememberOffer, routeKey } from './credit-state.ts'

/** A call of a route whose price is known is drawn at once. Undefined when there is none, or the price has moved. */
export async function drawKnown(
  context: ClientContext,
  prepared: PreparedRequest,
  agreed: AgreedTerms | undefined,
): Promise<AssayResult | undefined> {
  const { credit } = context
  if (credit === undefined) return undefined
  const offer = credit.offers.get(routeKey(prepared.method, prepared.url))
  if (offer === undefined) return undefined
  const drawn = await draw(context, { credit, prepared, offer }, '', agreed)
  // Nothing was drawn: the node is asked what it costs now.
  return drawn?.response.status === 402 ? undefined : drawn
}

/** Pays a 402 from credit. Undefined when the node does not take it or there is not enough: then it is paid on chain. */
export async function drawCredit(
  context: ClientContext,
  prepared: PreparedRequest,
  challenge: Exchange,
  agreed: AgreedTerms | undefined,
): Promise<AssayResult | undefined> {
  const { credit } = context
  if (credit === undefined) return undefined
  const required = parsePaymentRequired(challenge.headers.get('payment-required'))
  requireSameResource(required, prepared.url)
  const offer = required.accepts.find(isCredit)
  if (offer === undefined) {
    if (credit.mandate === undefined) return undefined
    throw new AssayError('no_acceptable_offer', { detail: 'this route takes no credit', reasons: [] })
  }
  const { description } = required.resource
  return draw(context, { credit, prepared, offer }, typeof description === 'string' ? description : '', agreed)
}

/** What a call would draw; undefined where credit is not used, not taken or not enough. */
export async function quoteCredit(
  context: ClientContext,
  prepared: PreparedRequest,
  challenge: Exchange,
): Promise<Quote | undefined> {
  const { credit } = context
  if (credit === undefined) return undefined
  const required = parsePaymentRequired(challenge.headers.get('payment-required'))
  const offer = required.accepts.find(isCredit)
  const amountMicro = offer && parseMicro(offer.amount)
  if (offer === undefined || amountMicro === undefined) return undefined
  const leftMicro = credit.mandate === undefined ? await ownBalance(context, credit, prepared.url) : undefined
  if (leftMicro !== undefined && leftMicro < amountMicro) return undefined
  const { description } = required.resource
  return quoteOf(prepared, offer, amountMicro, typeof description === 'string' ? description : '', leftMicro)
}

const isCredit = ({ scheme, extra }: Offer) => scheme === 'credit' && extra.proof === 'erc8128'

/** A call that is to be paid from credit, and what the node asked for it. */
type CreditCall = { credit: CreditState; prepared: PreparedRequest; offer: Offer }

async function draw(
  context: ClientContext,
  call: CreditCall,
  description: string,
  agreed: AgreedTerms | undefined,
): Promise<AssayResult | undefined> {
  const { credit, prepared, offer } = call
  requireAllowedHost(prepared.url, context.policy)
  const amountMicro = parseMicro(offer.amount)
  if (amountMicro === undefined) return undefined
  const leftMicro = credit.mandate === undefined ? await ownBalance(context, credit, prepared.url) : undefined
  if (leftMicro !== undefined && leftMicro < amountMicro) return undefined
  const quote = quoteOf(prepared, offer, amountMicro, description, leftMicro)
  const refundLimit = await requireAllowed(context, quote, amountMicro, agreed)
  context.onProgress({ kind: 'paying' })
  // A caller who names the call can ask for it again, in another process too.
  const key = prepared.headers.get('idempotency-key') ?? bytesToHex(context.platform.randomBytes(16)).slice(2)
  const received = await sendUntilAnswered(context, call, key)
  const payment = outcomeOf(received, offer, key)
  const result = async (verified: AssayResult['verified']): Promise<AssayResult> => ({
    response: received.response,
    payment,
    receipt: undefined,
    verified,
    purchase: undefined,
  })
  const verified = await verifyExchange(context, prepared, received, result)
  learn(call, payment)
  if (verified.status === 'verified' && nothingDrawn.has(received.status)) refundLimit()
  // A 402 says that nothing was drawn: the price moved, or the balance was used elsewhere meanwhile.
  if (received.status === 402 && credit.mandate === undefined) return undefined
  return result(verified)
}

/**
 * Refusals that say that nothing was drawn. The node holds the credit and is trusted with it, so its signed refusal is
 * believed.
 */
const nothingDrawn = new Set([401, 402, 403])

/** What the caller allowed for payments holds for draws as well. Returns what gives the budget its part back. */
async function requireAllowed(
  { policy, budget, confirm, onProgress }: ClientContext,
  quote: Quote,
  amountMicro: bigint,
  agreed: AgreedTerms | undefined,
): Promise<() => void> {
  if (agreed !== undefined && amountMicro > BigInt(agreed.amountMicro))
    throw new AssayError('terms_moved', { detail: `the price is now ${quote.priceUsd} USD`, quote, agreed })
  if (amountMicro > policy.maxPerCallMicro)
    throw new AssayError('price_above_maximum', {
      detail: `${quote.priceUsd} USD asked, ${formatUsd(policy.maxPerCallMicro)} allowed`,
      priceUsd: quote.priceUsd,
    })
  onProgress({ kind: 'quoted', quote })
  if (confirm && !(await confirm(quote))) throw new AssayError('not_confirmed', { quote })
  return budget.take(amountMicro)
}

const quoteOf = (
  prepared: PreparedRequest,
  offer: Offer,
  amountMicro: bigint,
  description: string,
  leftMicro: bigint | undefined,
): Quote => ({
  resource: prepared.url,
  description,
  network: offer.network,
  asset: offer.asset,
  payTo: offer.payTo,
  amountMicro: amountMicro.toString(),
  priceUsd: formatUsd(amountMicro),
  // The signature covers the request itself.
  bound: true,
  ...(leftMicro === undefined ? byMandate : creditChoice(amountMicro, leftMicro)),
})

const byMandate = { paymentMethod: 'credit', why: 'credit: of the party that gave the mandate' } as const

const undecided = new Set([429, 500, 502, 503, 504])
const firstDelayMs = 250
const longestDelayMs = 4_000

/**
 * Each try is signed again, for a signature counts once; all of them carry one name, under which the call is drawn once
 * and its answer given again.
 */
async function sendUntilAnswered(context: ClientContext, call: CreditCall, key: string): Promise<Exchange> {
  const { platform, limits } = context
  const { prepared } = call
  const giveUpAtMs = platform.nowMs() + limits.deadlineMs
  let cause: unknown
  for (let attempt = 0; attempt < limits.attemptsMax; attempt += 1) {
    const last = await exchange(platform, await signed(context, call, key)).catch((error: unknown) => {
      cause = error
      return undefined
    })
    if (last !== undefined && !undecided.has(last.status)) return last
    const asked = last?.headers.get('retry-after') ?? ''
    const delayMs = Math.max(
      /^[0-9]{1,6}$/.test(asked) ? Number(asked) * 1_000 : 0,
      Math.min(firstDelayMs * 2 ** attempt, longestDelayMs),
    )
    if (prepared.signal?.aborted || platform.nowMs() + delayMs > giveUpAtMs) {
      if (last !== undefined) return last
      break
    }
    const { code } = last === undefined ? {} : problemOf(last)
    context.onProgress({
      kind: 'waiting',
      delayMs,
      attempt: attempt + 1,
      ...(last === undefined ? {} : { status: last.status }),
      ...(code === undefined ? {} : { code }),
    })
    await platform.sleep(delayMs, prepared.signal).catch(() => {})
  }
  const details = {
    detail: 'a draw of credit was not answered',
    hint: `Send the same request with Idempotency-Key: ${key}. It is drawn once, and its answer given again.`,
    key,
  }
  throw new AssayError('payment_outcome_unknown', details, cause)
}

async function signed(
  { account, platform }: ClientContext,
  { credit: { mandate }, prepared, offer }: CreditCall,
  key: string,
): Promise<PreparedRequest> {
  const headers = new Headers(prepared.headers)
  headers.set('Idempotency-Key', key)
  headers.set('PAYMENT-SIGNATURE', encodeHeader({ x402Version: 2, accepted: offer.raw, payload: {} }))
  if (mandate !== undefined) headers.set('Assay-Mandate', mandate)
  const { method, body, url } = prepared
  const request = await signRequest(
    url,
    { method, headers, ...(body.byteLength > 0 ? { body } : {}) },
    { account, platform, chainId: Number(offer.network.split(':')[1]), cover: ['assay-mandate', 'x-affiliate-id'] },
  )
  return { ...prepared, headers: request.headers }
}

function outcomeOf(received: Exchange, offer: Offer, key: string): PaymentOutcome {
  if (received.status >= 400) return { status: 'refused', id: key }
  const response = decodeHeader(received.headers.get('payment-response') ?? '', 16_384)
  const extensions = isRecord(response?.extensions) ? response.extensions : {}
  const info = isRecord(extensions.credit) ? extensions.credit.info : undefined
  const left = isRecord(info) && typeof info.left === 'string' ? info.left : undefined
  return {
    status: 'drawn',
    id: key,
    network: typeof response?.network === 'string' ? response.network : offer.network,
    amountMicro: offer.amount,
    leftMicro: left,
  }
}

function learn({ credit, prepared, offer }: CreditCall, payment: PaymentOutcome): void {
  const key = routeKey(prepared.method, prepared.url)
  const { origin } = new URL(prepared.url)
  if (payment.status !== 'drawn') {
    credit.offers.delete(key)
    credit.balances.delete(origin)
    return
  }
  rememberOffer(credit, key, offer)
  const left = parseMicro(payment.leftMicro ?? '')
  if (left === undefined) credit.balances.delete(origin)
  else credit.balances.set(origin, left)
}

/** Asked for once, and again when it seems too little: a top-up may have come from elsewhere. */
async function ownBalance(context: ClientContext, credit: CreditState, url: string): Promise<bigint> {
  const { origin } = new URL(url)
  const known = credit.balances.get(origin)
  if (known !== undefined && known > 0n) return known
  const { account, platform } = context
  const read = await exchange(platform, {
    url: `${origin}/v1/credit/${account.address}`,
    method: 'GET',
    headers: new Headers({ accept: 'application/json' }),
    body: new Uint8Array(),
    signal: null,
  }).catch(() => undefined)
  const largest = read?.status === 200 ? largestCredit(read.body, context.policy.networks) : 0n
  credit.balances.set(origin, largest)
  return largest
}

/** Counts USDC, and other dollars that the policy names: those pay only for calls that are sold in them. */
function largestCredit(body: Uint8Array | undefined, networks: readonly PayableNetwork[]): bigint {
  const isKnown = ({ network }: Record<string, unknown>) =>
    !String(network).includes('/') ||
    networks.some((one) => `${one.network}/erc20:${one.usdc.toLowerCase()}` === network)
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(body))
    const rows = isRecord(value) && Array.isArray(value.credit) ? value.credit : []
    return rows.reduce((largest: bigint, row: unknown) => {
      const isCounted = isRecord(row) && isKnown(row) && typeof row.credit_micro === 'string'
      const micro = isCounted ? parseMicro(String(row.credit_micro)) : undefined
      return micro !== undefined && micro > largest ? micro : largest
    }, 0n)
  } catch {
    return 0n
  }
}
