import type { Verification } from '@assay/protocol/signatures/verify-response'
import type { Hex } from 'viem'
import { type AssayResult, type ClientContext, verifyExchange } from './context.ts'
import { AssayError } from './errors.ts'
import { type Exchange, type PreparedRequest, problemOf } from './exchange.ts'
import { channelIdOf, channelScheme, chargedInChannel, correctedState } from './payment-methods/channel.ts'
import { readPaymentOutcome, responseIn } from './payment-outcome.ts'
import { type AgreedTerms, readOffer, requireAgreed } from './quote.ts'
import { sendUntilAnswered } from './send-until-answered.ts'
import { type Purchase, signPayment } from './sign-payment.ts'
import { type ChosenOffer, depositOf, requireAllowedHost } from './spending-policy.ts'

/** Pays for one request, or goes on with a purchase that was begun before. */
export async function buy(context: ClientContext, prepared: PreparedRequest, start: Start): Promise<AssayResult> {
  requireAllowedHost(prepared.url, context.policy)
  const channelId = channelOf(context, prepared, start)
  if (channelId === undefined) return buyNow(context, prepared, start)
  return context.channels.inTurn(channelId, () =>
    buyNow(context, prepared, start).catch((error: unknown) => {
      // What became of the voucher is not known: the seller is asked before the next one.
      context.channels.set(channelId, undefined)
      throw error
    }),
  )
}

type Start = { challenge: Exchange; agreed?: AgreedTerms } | { purchase: Purchase }

/** The channel that the purchase would be paid by. */
function channelOf(context: ClientContext, prepared: PreparedRequest, start: Start): Hex | undefined {
  if ('purchase' in start) return start.purchase.channel?.id
  const { chosen } = readOffer(context, prepared, start.challenge, { anyPrice: true })
  return chosen.paymentMethod === channelScheme ? channelIdOf(context.account.address, chosen) : undefined
}

/** A client that knows nothing of its channel learns its state from the seller, and may have to pay in. */
const againMax = { channel: 2, other: 1 }

async function buyNow(context: ClientContext, prepared: PreparedRequest, start: Start): Promise<AssayResult> {
  const { platform, limits, onProgress } = context
  let purchase = 'purchase' in start ? start.purchase : await signFor(context, prepared, start)
  onProgress({ kind: 'paying' })
  for (let signed = 0; ; signed += 1) {
    const paid = purchase
    const received = await sendUntilAnswered(platform, prepared, paid, limits, onProgress).catch(
      withRequest(context, prepared),
    )
    const finish = async (verified: Verification): Promise<AssayResult> => {
      const keys = context.pins.keysOf(new URL(prepared.url).origin)
      const outcome = await readPaymentOutcome(received, paid, { payer: context.account.address, keys })
      return { response: received.response, ...outcome, verified, purchase: paid }
    }
    const verified = await verifyExchange(context, prepared, received, finish)
    // Without networks nothing may be signed: a purchase that is only resumed ends with what the seller says.
    const maySign = signed < againMax[paid.channel ? 'channel' : 'other'] && context.policy.networks.length > 0
    const mayAgain = maySign && verified.status === 'verified'
    const again = mayAgain ? await signAgain(context, prepared, received, paid) : undefined
    if (again === undefined) {
      recordChannel(context, received, paid)
      return finish(verified)
    }
    purchase = again
  }
}

function recordChannel(context: ClientContext, received: Exchange, { channel, amountMicro }: Purchase): void {
  if (!channel) return
  const settlement = received.status < 400 ? responseIn(received.headers) : undefined
  const state = settlement && chargedInChannel(settlement, BigInt(channel.baseMicro), BigInt(amountMicro))
  context.channels.set(channel.id, state)
}

/** What it takes to resume the purchase elsewhere, such as in another process. */
const withRequest =
  ({ account }: ClientContext, { url, method, headers, body }: PreparedRequest) =>
  (error: unknown): never => {
    if (!(error instanceof AssayError) || error.details.purchase === undefined) throw error
    const request = { url, method, headers: Object.fromEntries(headers), body }
    throw new AssayError(error.code, { ...error.details, request, payer: account.address }, error.cause)
  }

/** The price is agreed to, taken from the budget and signed for; nothing is sent. */
export async function signFor(
  context: ClientContext,
  prepared: PreparedRequest,
  { challenge, agreed }: { challenge: Exchange; agreed?: AgreedTerms },
): Promise<Purchase> {
  const { account, platform, budget } = context
  // Changed terms are reported as such before the maximum is checked.
  if (agreed !== undefined) requireAgreed(readOffer(context, prepared, challenge, { anyPrice: true }).quote, agreed)
  const { required, chosen, quote } = readOffer(context, prepared, challenge)
  context.onProgress({ kind: 'quoted', quote })
  if (context.confirm && !(await context.confirm(quote))) throw new AssayError('not_confirmed', { quote })
  budget.take(chosen.amountMicro)
  const challenges = challenge.headers.get('www-authenticate')
  const channel = channelFor(context, chosen)
  return signPayment({ account, required, chosen, platform, request: toPay(prepared), challenges, ...channel })
}

function channelFor({ account, channels, policy }: ClientContext, chosen: ChosenOffer) {
  if (chosen.paymentMethod !== channelScheme) return {}
  const state = channels.get(channelIdOf(account.address, chosen))
  return { channel: { state, depositMicro: depositOf(policy) } }
}

function toPay({ method, headers, body }: PreparedRequest) {
  return { method, contentType: headers.get('content-type'), body }
}

const timeReason = /valid_(?:before|after)/

/**
 * A second authorization, once, when the node proved with a signed 402 that the first moved no money and a fresh one
 * can help. Both together stay under the maximum, so that even a lying seller cannot take more than was allowed.
 */
async function signAgain(
  context: ClientContext,
  prepared: PreparedRequest,
  received: Exchange,
  first: Purchase,
): Promise<Purchase | undefined> {
  if (received.status !== 402) return undefined
  const { code, reason = '' } = problemOf(received)
  if (first.channel) return signVoucherAgain(context, prepared, received, first, reason)
  if (code !== 'payment_failed' && !timeReason.test(reason)) return undefined
  const { account, platform, policy, budget } = context
  const { required, chosen } = readOffer(context, prepared, received)
  if (!sameTerms(chosen, first)) return undefined
  if (chosen.amountMicro + BigInt(first.amountMicro) > policy.maxPerCallMicro) return undefined
  budget.take(chosen.amountMicro)
  const challenges = received.headers.get('www-authenticate')
  return signPayment({ account, required, chosen, platform, request: toPay(prepared), id: first.id, challenges })
}

/**
 * A voucher from the base that the seller proved, with a deposit where the channel holds too little. Vouchers count from the
 * beginning of the channel, so two of them take no more than the higher one.
 */
async function signVoucherAgain(
  context: ClientContext,
  prepared: PreparedRequest,
  received: Exchange,
  first: Purchase,
  reason: string,
): Promise<Purchase | undefined> {
  const { account, platform, policy } = context
  const { required, chosen } = readOffer(context, prepared, received)
  if (!sameTerms(chosen, first)) return undefined
  const state = await correctedState(account, chosen, reason)
  if (state === undefined) return undefined
  const channel = { state, depositMicro: depositOf(policy) }
  return signPayment({ account, required, chosen, platform, request: toPay(prepared), id: first.id, channel })
}

/** A seller that changes payee, asset or price between two answers is not paid a second time. */
function sameTerms({ offer, network, amountMicro, paymentMethod }: ChosenOffer, first: Purchase): boolean {
  return (
    paymentMethod === (first.paymentMethod ?? 'exact') &&
    network.network === first.network &&
    network.usdc === first.asset &&
    offer.payTo.toLowerCase() === first.payTo.toLowerCase() &&
    amountMicro <= BigInt(first.amountMicro)
  )
}
